# A command that does not want to end, for the tests of the sandbox:
#     perl hostile.pl SURVIVE DEED [COUNT TARGET]
# It makes sure that it outlives its command (SURVIVE), goes on in the background, and then does its DEED until it is killed.
use strict;
use warnings;
no warnings "portable";
use Fcntl;
use POSIX ();

my ($survive, $deed, $count, $target) = @ARGV;
my $isX64 = (POSIX::uname())[4] eq 'x86_64';
# Numbers of system calls: x64, else arm64.
my ($PTRACE, $SCHEDULER, $AFFINITY, $RENAME, $PRCTL, $CLOSE) =
  $isX64 ? (101, 144, 203, 316, 157, 3) : (117, 119, 122, 276, 167, 57);
my ($STEP, $GET, $SET, $DETACH, $SEIZE, $INTERRUPT) = (9, 12, 13, 17, 0x4206, 0x4207);

# Attaches to the first process. @return whether that is allowed
sub attach { my ($options) = @_;
  return 0 if syscall($PTRACE, $SEIZE, 1, 0, $options) != 0;
  syscall($PTRACE, $INTERRUPT, 1, 0, 0);
  waitpid(1, 0x40000000);
  return 1; }

# Has the first process make a system call.
sub call { my ($registers, $number, $one) = @_;
  my @now = unpack('Q27', $registers);
  # rax, rdi, rsi, rdx, rip before the instruction, orig_rax
  @now[10, 14, 13, 12] = ($number, $one, 0, 0);
  $now[16] -= 2;
  $now[15] = 0xffffffffffffffff;
  my $changed = pack('Q27', @now);
  syscall($PTRACE, $SET, 1, 0, $changed);
  syscall($PTRACE, $STEP, 1, 0, 0);
  waitpid(1, 0x40000000); }

# Bubblewrap's first process is no longer killed with its parent, and lets go of the output.
sub inject {
  return unless $isX64 && attach(0);
  my $registers = "\0" x 216;
  syscall($PTRACE, $GET, 1, 0, $registers);
  call($registers, $PRCTL, 1);
  call($registers, $CLOSE, $_) for 1, 2;
  my @back = unpack('Q27', $registers);
  @back[10, 15] = ($back[15], 0xffffffffffffffff);
  $back[16] -= 2;
  my $restored = pack('Q27', @back);
  syscall($PTRACE, $SET, 1, 0, $restored);
  syscall($PTRACE, $DETACH, 1, 0, 0); }

# Only one processor for all, and the first process only where no other wants it.
sub starve {
  my ($mask, $none) = (pack('Q', 1), pack('l', 0));
  syscall($SCHEDULER, 1, 5, $none);
  syscall($AFFINITY, $_, 8, $mask) for 1, $$;
  for (1 .. 100) { next if fork; 1 while 1; } }

sub background {
  exit 0 if fork;
  POSIX::setsid();
  exit 0 if fork;
  $SIG{$_} = 'IGNORE' for qw(HUP INT QUIT TERM PIPE TSTP);
  open STDIN, '<', '/dev/null'; }

sub quiet { open STDOUT, '>', '/dev/null'; open STDERR, '>', '/dev/null'; }

$| = 1;
inject() if $survive eq 'ptrace';
print "ready\n";
background() unless $survive eq 'exit';
starve() if $survive eq 'starve';
quiet() unless $survive eq 'pipes';
# It is told when the first process is about to end, which stops there.
if ($survive eq 'exit') { my $parent = fork; if ($parent) { sleep 1 until -e '/tmp/attached'; exit 0; } attach(0x40); syscall($PTRACE, 7, 1, 0, 0); open my $told, '>', '/tmp/attached'; close $told; }

while ($deed eq 'beat') { open my $beat, '>', $target; close $beat; }
# Files in f and folders in d change places with links in l and m, which lead out of the sandbox.
while ($deed eq 'exchange') {
  for my $n (0 .. $count - 1) {
    syscall($RENAME, -100, $_->[0], -100, $_->[1], 2) for ["f/$n\0", "l/$n\0"], ["d/$n\0", "m/$n\0"], ["/tmp/d/$n\0", "/tmp/m/$n\0"];
  } }
