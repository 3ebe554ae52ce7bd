# Writes the files of the list INPUTS one after the other to OUTPUT. They end up inside a <script>
# element, so none may contain the text that closes it.
set(all "")
foreach(name ${INPUTS})
  file(READ ${name} text)
  string(FIND "${text}" "</script" at)
  if(NOT at EQUAL -1)
    message(FATAL_ERROR "${name}: contains a closing script tag")
  endif()
  string(APPEND all "${text}\n")
endforeach()
file(WRITE ${OUTPUT} "${all}")
