import { randomUUID } from 'node:crypto';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { WebSocket } from 'ws';
import * as z from 'zod/mini';
import { detailOf, messageOf, ToolError } from '../../../base/errors.ts';
import { agentNameOf } from '../../agentName.ts';
import { CallToolRequestSchema, ListToolsRequestSchema, Server } from '../../mcp/sdk.ts';
import type { CompanionHost } from '../companionHost.ts';
import { argumentsOf } from '../argumentsOf.ts';
import { ProposedDiffs } from '../proposedDiffs.ts';
import { editorTools } from './editorTools.ts';
import { SocketTransport } from './socketTransport.ts';

const AGENT = 'Claude Code';

const openDiffArguments = z.object({
  old_file_path: z.string(),
  new_file_path: z.string(),
  new_file_contents: z.string(),
  tab_name: z.string(),
});
const closeTabArguments = z.object({ tab_name: z.string() });

const toolNames: Readonly<Record<string, readonly string[]>> = {
  openDiff: ['old_file_path', 'new_file_path', 'new_file_contents', 'tab_name'],
  close_tab: ['tab_name'],
  closeAllDiffTabs: [],
  ...Object.fromEntries(Object.entries(editorTools).map(([name, { properties }]) => [name, properties])),
};

const tools = Object.entries(toolNames).map(([name, properties]) => ({
  name,
  description: name === 'openDiff' ? 'Shows a proposed change of a file, and waits for the answer.' : name,
  inputSchema: {
    type: 'object' as const,
    properties: Object.fromEntries(properties.map(each => [each, { type: 'string' as const }])),
  },
}));

/** One connection of Claude Code. */
export class ClaudeSession {
  readonly #host: CompanionHost;
  readonly #server: Server;
  readonly #transport: SocketTransport;
  readonly #id = randomUUID();
  #diffs: ProposedDiffs | undefined;

  private constructor(host: CompanionHost, socket: WebSocket) {
    this.#host = host;
    this.#server = new Server(
      { name: 'redline', title: 'Redline', version: host.version },
      { capabilities: { tools: {} } },
    );
    this.#server.onerror = error => host.logger.debug(`${AGENT}: ${detailOf(error)}`);
    this.#transport = new SocketTransport(socket);
    // Before the calls that wait are aborted, which would look like an answer in the terminal.
    this.#transport.onclose = () => this.#diffs?.end(`${AGENT} has ended, or lost its connection.`);
  }

  static async start(host: CompanionHost, socket: WebSocket): Promise<ClaudeSession> {
    const session = new ClaudeSession(host, socket);
    session.#server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
    session.#server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal }) =>
      session.#call(params.name, params.arguments, signal),
    );
    await session.#server.connect(session.#transport);
    return session;
  }

  /** Ends the connection. What waits for an answer expires; the agent takes that for no answer. */
  async close(): Promise<void> {
    this.#diffs?.dispose();
    await this.#server.close();
  }

  async #call(name: string, args: unknown, signal: AbortSignal): Promise<CallToolResult> {
    try {
      if (name === 'openDiff') return await this.#openDiff(argumentsOf(openDiffArguments, args), signal);
      if (name === 'close_tab') return this.#closeTab(argumentsOf(closeTabArguments, args).tab_name);
      if (name === 'closeAllDiffTabs') return this.#closeAll();
      const tool = Object.hasOwn(editorTools, name) ? editorTools[name] : undefined;
      if (!tool) throw new ToolError(`There is no tool ${name.slice(0, 100)}.`);
      return texts(JSON.stringify(await tool.run(args, this.#host)));
    } catch (error) {
      if (!(error instanceof ToolError))
        this.#host.logger.error(`${name} of ${AGENT} failed: ${detailOf(error)}`);
      return { ...texts(messageOf(error)), isError: true };
    }
  }

  /** Answers once the diff is decided: any answer but a refusal has the agent write. */
  async #openDiff(
    { old_file_path, new_file_path, new_file_contents, tab_name }: z.infer<typeof openDiffArguments>,
    signal: AbortSignal,
  ): Promise<CallToolResult> {
    if (old_file_path !== new_file_path)
      throw new ToolError('Redline shows diffs of one file. Ask for a decision in the terminal.');
    const { promise, resolve } = Promise.withResolvers<CallToolResult>();
    await this.#ownDiffs.propose(
      { key: tab_name, file: new_file_path, text: new_file_contents },
      {
        accept: text => resolve(texts('FILE_SAVED', text)),
        reject: () => resolve(texts('DIFF_REJECTED', tab_name)),
      },
    );
    signal.addEventListener('abort', () => this.#ownDiffs.answeredInTerminal(tab_name), { once: true });
    if (signal.aborted) this.#ownDiffs.answeredInTerminal(tab_name);
    return promise;
  }

  #closeTab(tab: string): CallToolResult {
    this.#ownDiffs.answeredInTerminal(tab);
    return texts('TAB_CLOSED');
  }

  #closeAll(): CallToolResult {
    const { keys } = this.#ownDiffs;
    for (const key of keys) this.#ownDiffs.answeredInTerminal(key);
    return texts(`CLOSED_${keys.length}_DIFF_TABS`);
  }

  /** The diffs of the agent, which has told its version by now. */
  get #ownDiffs(): ProposedDiffs {
    const { version } = agentNameOf(this.#server.getClientVersion());
    this.#diffs ??= new ProposedDiffs(this.#host, { id: this.#id, agent: { name: AGENT, version } });
    return this.#diffs;
  }
}

function texts(...parts: readonly string[]): CallToolResult {
  return { content: parts.map(text => ({ type: 'text', text })) };
}
