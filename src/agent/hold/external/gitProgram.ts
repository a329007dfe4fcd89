import { execFile } from 'node:child_process';
import { nameOfBytes } from './fileNames.ts';
import { hasCode, isAbortError, messageOf, ToolError } from '../../base/errors.ts';

export interface RunOptions {
  /** Git's input. */
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** `latin1`: input and output are bytes, one for each character. */
  readonly encoding?: 'utf8' | 'latin1';
  readonly signal?: AbortSignal | undefined;
  /** Ends git once it has printed this many bytes, and returns these. Without it, more than {@link MAX_OUTPUT} is an error. */
  readonly atMost?: number;
}

/** The most that git may print, in bytes. */
const MAX_OUTPUT = 256 * 1024 * 1024;

/**
 * No program of the repository runs except the filters that a conversion needs; paths are names, never patterns; git neither waits
 * for a lock nor takes one to read.
 */
const ALWAYS = [
  ...['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false'],
  ...['--literal-pathspecs', '--no-optional-locks'],
];

/** Keeps a partial clone from fetching missing objects: its settings may name any program and any server for that. */
const NO_NETWORK = { GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none' };

/** The program git, in the working tree of one repository. */
export class GitProgram {
  /** The absolute path of the working tree. */
  readonly root: string;
  readonly #program: string;

  constructor(root: string, program = 'git') {
    this.root = root;
    this.#program = program;
  }

  /** Runs git with `-z`. @returns the parts that it prints, with names as {@link nameOfBytes} gives them. */
  async names(
    args: readonly string[],
    options: Omit<RunOptions, 'encoding'> = {},
  ): Promise<readonly string[]> {
    const parts = fields(await this.run(args, { ...options, encoding: 'latin1' }));
    return parts.map(part => nameOfBytes(Buffer.from(part, 'latin1')));
  }

  /**
   * Runs git. @returns its output.
   * @throws ToolError with the first line of git's message and all of it as its cause; the abort error.
   */
  run(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const { input, env, cwd = this.root, encoding = 'utf8', signal, atMost } = options;
    return new Promise((resolve, reject) => {
      const child = execFile(
        this.#program,
        [...ALWAYS, ...args],
        {
          cwd,
          encoding,
          maxBuffer: atMost ?? MAX_OUTPUT,
          windowsHide: true,
          env: { ...plainEnvironment(), LC_ALL: 'C', ...NO_NETWORK, ...env },
          ...(signal ? { signal } : {}),
        },
        (error: Error | null, output, errors) => {
          if (!error) resolve(output);
          else if (atMost !== undefined && hasCode(error, 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER'))
            resolve(output);
          else if (isAbortError(error)) reject(error);
          else reject(new ToolError(errors.trim().split('\n')[0] || messageOf(error), { cause: error }));
        },
      );
      // Git may exit without reading its input.
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(input ?? '', encoding);
    });
  }
}

/** The environment without variables that would lead git to another repository. Git asks nothing: nobody could answer. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^GIT_(?!SSH|ASKPASS|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM))/i.test(name),
  );
  return { ...Object.fromEntries(kept), GIT_TERMINAL_PROMPT: '0' };
}

/** The parts of an output with `-z`. */
export function fields(output: string): readonly string[] {
  return output === '' ? [] : output.replace(/\0$/, '').split('\0');
}
