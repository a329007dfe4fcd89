import type { AnswerPart, EditorTool, EditorToolHost } from '../../src/agent/session/tools/editor/port.ts';

/** The tools of a VS Code that a test makes up. */
export class FakeToolHost implements EditorToolHost {
  trusted = true;
  tools: EditorTool[] = [];
  /** Calls that were made, as `name arguments`. */
  readonly calls: string[] = [];
  /** What a call answers. */
  answer: (signal: AbortSignal) => Promise<readonly AnswerPart[]> = async () => [
    { kind: 'text', text: 'done' },
  ];

  readonly isTrusted = (): boolean => this.trusted;

  list(): readonly EditorTool[] {
    return this.tools;
  }

  call: EditorToolHost['call'] = (name, input, signal) => {
    this.calls.push(`${name} ${JSON.stringify(input)}`);
    return this.answer(signal);
  };

  /** Offers these tools, by name, with what differs from a tool of an MCP server that takes a text. */
  offer(tools: Readonly<Record<string, Partial<EditorTool>>>): void {
    this.tools = Object.entries(tools).map(([name, tool]) => ({
      name,
      description: `Does ${name}.`,
      inputSchema: {
        type: 'object',
        properties: { text: { type: 'string' } },
        required: ['text'],
      },
      origin: { kind: 'mcp' },
      ...tool,
    }));
  }
}
