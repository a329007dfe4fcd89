import { homedir, tmpdir } from 'node:os';
import * as path from 'node:path';

/** Where a window listens. */
export interface Listening {
  readonly port: number;
  readonly token: string;
  /** The open folders, joined as a list of paths is on this system. */
  readonly workspacePath: string;
}

/** How Gemini CLI and Qwen Code, which share a protocol, look for a window. */
export interface Flavour {
  readonly agent: string;
  /** The folder of {@link file}. */
  readonly folder: () => string;
  readonly file: (listening: Listening) => string;
  readonly environment: (listening: Listening) => Readonly<Record<string, string>>;
}

/** As in Gemini CLI 0.61 and Qwen Code 0.24. */
export const flavours: Readonly<Record<'gemini' | 'qwen', Flavour>> = {
  gemini: {
    agent: 'Gemini CLI',
    folder: geminiFolder,
    // The process that terminals and extensions of a window have in common.
    file: ({ port }) => path.join(geminiFolder(), `gemini-ide-server-${process.ppid}-${port}.json`),
    environment: ({ port, token, workspacePath }) => ({
      GEMINI_CLI_IDE_PID: String(process.ppid),
      GEMINI_CLI_IDE_SERVER_PORT: String(port),
      GEMINI_CLI_IDE_WORKSPACE_PATH: workspacePath,
      GEMINI_CLI_IDE_AUTH_TOKEN: token,
    }),
  },
  qwen: {
    agent: 'Qwen Code',
    folder: qwenFolder,
    file: ({ port }) => path.join(qwenFolder(), `${port}.lock`),
    environment: ({ port, workspacePath }) => ({
      QWEN_CODE_IDE_SERVER_PORT: String(port),
      QWEN_CODE_IDE_WORKSPACE_PATH: workspacePath,
    }),
  },
};

function geminiFolder(): string {
  return path.join(tmpdir(), 'gemini', 'ide');
}

function qwenFolder(): string {
  return path.join(homedir(), '.qwen', 'ide');
}
