/** The numbers of the filtered system calls on one architecture. */
interface CallNumbers {
  readonly architecture: number;
  readonly socket: number;
  readonly ioctl: number;
  /** `add_key`, `request_key`, `keyctl`; `bpf`, `perf_event_open`; `io_uring_setup`, which opens sockets past any filter. */
  readonly refused: readonly number[];
}

const NUMBERS: Readonly<Partial<Record<NodeJS.Architecture, CallNumbers>>> = {
  x64: { architecture: 0xc000003e, socket: 41, ioctl: 16, refused: [248, 249, 250, 321, 298, 425] },
  arm64: { architecture: 0xc00000b7, socket: 198, ioctl: 29, refused: [217, 218, 219, 280, 241, 425] },
};

/** Unix, IPv4, IPv6, netlink: the socket families that a network namespace holds. Others, such as vsock, reach the machine. */
const FAMILIES = [1, 2, 10, 16];

/** `TIOCSTI` and `TIOCLINUX` type into the terminal, whose shell would run it outside. */
const TYPING = [0x5412, 0x541c];

const [LOAD, IS_EQUAL, IS_AT_LEAST, RETURN] = [0x20, 0x15, 0x35, 0x06];
const ALLOW = 0x7fff0000;
const [REFUSE, UNKNOWN_CALL, UNKNOWN_FAMILY] = [0x50001, 0x50026, 0x50061];

/**
 * Makes a seccomp filter for commands. It closes the holes that namespaces leave, such as the kernel's keyrings
 * and sockets that lead to the machine.
 * @returns `undefined` for an unknown architecture, and on any system but Linux
 */
export function callFilter(processor: NodeJS.Architecture = process.arch): Buffer | undefined {
  const numbers = NUMBERS[processor];
  if (!numbers || process.platform !== 'linux') return undefined;
  const { architecture, socket, ioctl, refused } = numbers;
  /** Ends with this answer if the comparison holds. */
  const answer = (comparison: number, value: number, result: number): number[][] => [
    [comparison, 0, 1, value],
    [RETURN, 0, 0, result],
  ];
  const program = [
    [LOAD, 0, 0, 4],
    [IS_EQUAL, 1, 0, architecture],
    [RETURN, 0, 0, UNKNOWN_CALL],
    [LOAD, 0, 0, 0],
    // x32 has other numbers.
    ...answer(IS_AT_LEAST, 0x40000000, UNKNOWN_CALL),
    ...refused.flatMap(call => answer(IS_EQUAL, call, REFUSE)),
    // The request is its second argument, of which the kernel reads 32 bits.
    [IS_EQUAL, 0, 1 + 2 * TYPING.length, ioctl],
    [LOAD, 0, 0, 24],
    ...TYPING.flatMap(request => answer(IS_EQUAL, request, REFUSE)),
    [LOAD, 0, 0, 0],
    [IS_EQUAL, 1, 0, socket],
    [RETURN, 0, 0, ALLOW],
    [LOAD, 0, 0, 16],
    ...FAMILIES.flatMap(family => answer(IS_EQUAL, family, ALLOW)),
    [RETURN, 0, 0, UNKNOWN_FAMILY],
  ];
  const bytes = Buffer.alloc(8 * program.length);
  for (const [n, [code = 0, yes = 0, no = 0, value = 0]] of program.entries()) {
    bytes.writeUInt16LE(code, 8 * n);
    bytes.writeUInt8(yes, 8 * n + 2);
    bytes.writeUInt8(no, 8 * n + 3);
    bytes.writeUInt32LE(value, 8 * n + 4);
  }
  return bytes;
}
