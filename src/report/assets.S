/* The files of the page as read-only data; the build says where they are. */
    .macro asset name, path
    .globl \name
    .hidden \name
    .globl \name\()_end
    .hidden \name\()_end
\name:
    .incbin "\path"
\name\()_end:
    .byte 0
    .endm

    .section .rodata
    asset psfm_asset_page, PSFM_PAGE
    asset psfm_asset_style, PSFM_STYLE
    asset psfm_asset_script, PSFM_SCRIPT
    asset psfm_asset_three, PSFM_THREE

    .section .note.GNU-stack, "", %progbits
