import { PathError } from '../../src/agent/base/errors.ts';
import type { Logger } from '../../src/agent/base/logger.ts';
import type { PendingAction } from '../../src/agent/hold/preview/pendingAction.ts';
import type { Preview } from '../../src/agent/hold/preview/preview.ts';
import { ToolLoader, type LoadedTools } from '../../src/agent/session/tools/custom/loading/toolLoader.ts';
import type { ToolHost, ToolSession } from '../../src/agent/session/tools/custom/pi.ts';
import type { CustomToolUi } from '../../examples/tools/redline.d.ts';
import { TempFolder } from './tempFolder.ts';
import { ToolHarness } from './toolHarness.ts';

/** A folder of tools on disk with a loader, and stand-ins for VS Code and the session. */
export class CustomToolWorld {
  readonly folder: TempFolder;
  readonly loader: ToolLoader;
  /** Logged lines, each with its level. */
  readonly logged: string[] = [];
  /** Notifications and questions to the user. */
  readonly asked: unknown[][] = [];
  /** Actions that were staged outside any call. */
  readonly staged: PendingAction[] = [];
  /** How often `onProblem` was called. */
  problemsTold = 0;
  session: ToolSession | undefined = {
    id: 's1',
    stage: action => ({ id: `late${this.staged.push(action)}` }) as Preview,
  };

  private constructor(folder: TempFolder, timeoutMs: number | undefined) {
    this.folder = folder;
    this.loader = new ToolLoader({
      host: this.host,
      onProblem: () => void this.problemsTold++,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
  }

  static async create({ timeoutMs }: { timeoutMs?: number } = {}): Promise<CustomToolWorld> {
    return new CustomToolWorld(await TempFolder.create(), timeoutMs);
  }

  get logger(): Logger {
    const say =
      (level: string) =>
      (message: string): void =>
        void this.logged.push(`${level} ${message}`);
    return { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
  }

  get host(): ToolHost {
    const ask =
      <T>(name: string, answer: T) =>
      (...args: unknown[]): T => {
        this.asked.push([name, ...args]);
        return answer;
      };
    const ui: CustomToolUi = {
      notify: ask('notify', undefined),
      confirm: ask('confirm', Promise.resolve(true)),
      input: ask('input', Promise.resolve('typed')),
      select: ask('select', Promise.resolve('chosen')),
    };
    return {
      ui,
      hasUI: true,
      logger: this.logger,
      session: () => this.session,
      resolvePath: input => {
        if (input.startsWith('..')) throw new PathError('outside', `${input} is outside the workspace.`);
        return input;
      },
    };
  }

  /** Writes a tool and loads it. */
  async load(name: string, source: string): Promise<LoadedTools> {
    return this.loader.loadFile(await this.folder.file(name, source), this.folder.root, '/project');
  }

  /** The faults of a tool that cannot be loaded. */
  async faults(name: string, source: string): Promise<readonly object[]> {
    const { owner } = await this.load(name, source);
    return owner.problems.map(({ fault, line, column }) => ({ ...fault, at: `${line}:${column}` }));
  }

  /** A harness that runs single calls of the loaded tools. */
  harness({ tools }: LoadedTools, files: Readonly<Record<string, string | Uint8Array>> = {}): ToolHarness {
    return new ToolHarness(
      files,
      tools.map(({ tool }) => tool),
    );
  }

  async dispose(): Promise<void> {
    this.loader.dispose();
    await this.folder.remove();
  }
}

/** The source of a tool with this body of `execute`. */
export function toolSource(
  name: string,
  body = `return { content: [{ type: 'text', text: 'ok' }] };`,
): string {
  return `export default pi => ({
  name: '${name}',
  description: 'For a test.',
  parameters: pi.zod.object({}),
  async execute(id, params, onUpdate, ctx, signal) { ${body} },
});
`;
}
