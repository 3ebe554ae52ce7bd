# More than one process, by mpirun: the files of one machine; photographs that differ, a full disk and
# a killed rank end the run with one sentence, and the next run goes on.
source "$(dirname "$0")/lib.sh"
command -v mpirun >/dev/null || { echo "no mpirun"; exit 77; }
[[ $(ldd "$planarsfm") == *libmpi* ]] || { echo "built without MPI"; exit 77; }
"$planarsfm" synth field -o scene --cameras 6 --render.width 320 --quiet >/dev/null

# As root, in a container, with more ranks than cores, quietly.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
mpi=(mpirun -q --oversubscribe)
"${mpi[@]}" -n 2 true || { echo "mpirun cannot start two processes here"; exit 77; }
photos=$scratch/scene/images
run=("$planarsfm" run "$photos" --cameras "$scratch/scene/gt" --threads 1 --no-report)
# summary OUT: its summary without times and memory.
summary() { python3 -c 'import json, sys
summary = json.load(open(sys.argv[1] + "/summary.json"))
print(json.dumps({k: summary[k] for k in summary if k not in ("seconds", "cpu_seconds", "peak_memory_mb")}, indent=1))' "$1"; }
same() { # OUT [ALONE]: it has what one machine makes, byte for byte
    local alone=${2:-alone}
    for file in database.db graph.json planes.json planes.ply model; do
        [ ! -e "$alone/$file" ] || diff -r "$alone/$file" "$1/$file" || fail "$1/$file is not that of one machine"
    done
    diff <(summary "$alone" | sed "s:$alone:OUT:g") <(summary "$1" | sed "s:$1:OUT:g") ||
        fail "$1/summary.json is not that of one machine"
}
second= # a process on the second machine, below
cleanup() {
    umount "$scratch/disk" 2>/dev/null || true
    [ -z "$second" ] || kill "$second" 2>/dev/null || true
    ip link del "psfm$$" 2>/dev/null || true
}
trap cleanup EXIT
# one_sentence: what refuses has caught is one line.
one_sentence() { [ "$(wc -l <refused.err)" -eq 1 ] || fail "not one sentence: $(cat refused.err)"; }

"${run[@]}" -o alone --quiet >alone.out
for num in 1 2 3; do
    "${mpi[@]}" -n $num "${run[@]}" -o "ranks$num" --quiet >"ranks$num.out"
    same "ranks$num"
    diff <(sed 's/alone/OUT/g' alone.out) <(sed "s/ranks$num/OUT/g" "ranks$num.out") ||
        fail "with $num ranks it says something else"
done
"${mpi[@]}" -n 2 "${run[@]}" -o threads --threads 2 --quiet >threads.out
same threads
at_least "$(number alone/summary.json median_sigma_px)" 0.001 || fail "nothing was aligned in the photographs"

# Pairs and tracks aligned in the photographs, of which one is gone.
cp -r "$photos" fewer
rm "fewer/$(ls fewer | head -1)"
align=("$planarsfm" reconstruct alone/database.db --images "$scratch/fewer" --threads 1 --quiet)
"${align[@]}" -o fewer_alone >/dev/null 2>fewer_alone.err
for num in 2 3; do
    "${mpi[@]}" -n $num "${align[@]}" -o "fewer$num" >/dev/null 2>"fewer$num.err"
    same "fewer$num" fewer_alone
    diff fewer_alone.err "fewer$num.err" || fail "with $num ranks it says something else of a photograph that is gone"
done

# Features and matches of networks, whose weights every rank loads.
mkdir weights
for network in xfeat lighterglue; do "$3" $network 1 weights/$network.safetensors; done
neural() { # OUT LAUNCHER...
    local out=$1
    shift
    "$@" "$planarsfm" extract "$photos" -o "$out" --features xfeat --weights weights --max-size 160 \
        --xfeat.max-keypoints 50 --xfeat.threshold 0 --threads 1 --quiet >/dev/null
    "$@" "$planarsfm" match "$out/database.db" --weights weights --lightglue.threshold 0 --pairs ring:1 --threads 1 \
        --quiet >/dev/null
}
neural neural_alone
neural neural_ranks "${mpi[@]}" -n 3
cmp neural_alone/database.db neural_ranks/database.db || fail "networks on ranks give another database"

# Other commands do their work once; who is wrong is told once.
[ "$("${mpi[@]}" -n 3 "$planarsfm" --version | wc -l)" -eq 1 ] || fail "each rank prints the version"
refuses 2 "no command 'fly'" "${mpi[@]}" -n 2 "$planarsfm" fly

# A rank in another folder, where photographs have other names, sizes or contents.
mkdir -p here there/named there/sized there/changed
cp -r "$photos" here/photos
for case in named sized changed; do cp -r "$photos" there/$case/photos; done
last=$(ls here/photos | tail -1)
mv there/named/photos/"$last" there/named/photos/other.png
printf 'more' >>there/sized/photos/"$last"
size=$(stat -c %s "here/photos/$last")
printf '\377\376' | dd of=there/changed/photos/"$last" bs=1 seek=$((size / 2)) conv=notrunc status=none
for case in named sized changed; do
    arguments=("$planarsfm" extract photos -o "$scratch/$case" --threads 1 --quiet)
    refuses 1 "photos/$last: .* sees another photograph than the first rank" "${mpi[@]}" \
        -n 1 --wdir here "${arguments[@]}" : -n 2 --wdir "there/$case" "${arguments[@]}"
    one_sentence
done

# The same where planes and tracks are aligned in them.
for case in named sized changed; do
    arguments=("$planarsfm" reconstruct "$scratch/alone/database.db" --images photos -o "$scratch/aligned_$case" --threads 1 --quiet)
    refuses 1 "photos/$last: .* sees another photograph than the first rank" "${mpi[@]}" \
        -n 1 --wdir here "${arguments[@]}" : -n 2 --wdir "there/$case" "${arguments[@]}"
    one_sentence
done

# A disk that is full, where the first rank writes.
mkdir disk
if mount -t tmpfs -o size=300k tmpfs disk 2>mount.err; then
    refuses 1 "disk/out/database.db" "${mpi[@]}" -n 3 "${run[@]}" -o disk/out --quiet
    one_sentence
    mount -o remount,size=64m disk
    "${mpi[@]}" -n 3 "${run[@]}" -o disk/out --quiet >/dev/null
    diff -r alone/model disk/out/model || fail "after a full disk the model is another one"
    umount disk
else
    echo "not tried, no right to mount: a full disk ($(cat mount.err))"
fi

# Two machines, as far as one can make them: the second rank is in a network and under a name of its own.
apart() {
    command -v ip unshare nsenter >/dev/null || return 1
    unshare -n -u sleep 600 2>apart.err &
    second=$!
    sleep 0.2
    in_second() { nsenter -t "$second" -n -u "$@"; }
    ip link add "psfm$$" type veth peer name "psfm$$b" 2>>apart.err &&
        ip link set "psfm$$b" netns "$second" && ip addr add 10.234.5.1/24 dev "psfm$$" && ip link set "psfm$$" up &&
        in_second ip addr add 10.234.5.2/24 dev "psfm$$b" && in_second ip link set "psfm$$b" up &&
        in_second ip link set lo up && in_second hostname second
}
launch=(mpirun -q --mca plm_rsh_agent "sh $scratch/agent.sh" --mca oob_tcp_if_include 10.234.5.0/24 --mca btl tcp,self
    --mca btl_tcp_if_include 10.234.5.0/24 -n 2 --host "10.234.5.1:1,10.234.5.2:1")
if apart && printf 'shift\nexec nsenter -t %s -n -u sh -c "$*"\n' "$second" >agent.sh && "${launch[@]}" true 2>>apart.err; then
    "${launch[@]}" "${run[@]}" -o "$scratch/apart" --quiet >/dev/null
    same apart
else
    echo "not tried, no right to make networks: two machines ($(cat apart.err))"
fi

# A rank that is killed while the others work. mpirun ends with the ranks, and does not always pass on
# what the first one says last: three tries.
cat >rank.sh <<'END'
echo $$ >"pid.$OMPI_COMM_WORLD_RANK"
exec "$@"
END
kill_a_rank() {
    rm -rf killed pid.*
    "${mpi[@]}" -n 3 bash rank.sh "${run[@]}" -o killed --quiet >killed.out 2>killed.err &
    local job=$!
    while [ ! -s pid.2 ] || [ ! -e killed/database.db ]; do
        kill -0 $job 2>/dev/null || fail "it ended before a rank could be killed: $(cat killed.err)"
        sleep 0.02
    done
    kill -9 "$(cat pid.2)"
    wait $job && fail "a run succeeds although a rank was killed"
    [ -s killed.err ]
}
kill_a_rank || kill_a_rank || kill_a_rank || fail "nothing is said of a rank that was killed"
grep -q 'planarsfm: stopped .* the same command goes on from here' killed.err && [ "$(wc -l <killed.err)" -eq 1 ] ||
    fail "not one sentence of a rank that was killed: $(cat killed.err)"
"${mpi[@]}" -n 2 "${run[@]}" -o killed --quiet >/dev/null
diff -r alone/model killed/model || fail "after a killed rank the model is another one"

# The same while pairs are aligned in the photographs, which begins when the planes are done.
kill_while_aligning() {
    rm -rf killed pid.*
    mkdir killed
    cp alone/database.db killed
    "${mpi[@]}" -n 3 bash rank.sh "${run[@]}" -o killed --progress --photo-plane.corners 20000 >killed.out 2>killed.err &
    local job=$!
    while ! grep -q '^planes .*done' killed.err; do
        kill -0 $job 2>/dev/null || fail "it ended before a rank could be killed: $(cat killed.err)"
        sleep 0.02
    done
    kill -9 "$(cat pid.2)"
    wait $job && fail "a run succeeds although a rank was killed"
    grep -q 'planarsfm: stopped .* the same command goes on from here' killed.err
}
kill_while_aligning || kill_while_aligning || kill_while_aligning || fail "not one sentence of it: $(cat killed.err)"
[ ! -e killed/model ] || fail "a rank was killed too late"
"${mpi[@]}" -n 2 "${run[@]}" -o killed --quiet >/dev/null
diff -r alone/model killed/model || fail "after a rank killed while aligning the model is another one"
