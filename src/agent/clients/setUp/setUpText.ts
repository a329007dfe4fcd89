import { INSTRUCTIONS } from '../clientTools.ts';

/**
 * What a person does to connect an agent that Redline does not know, as a Markdown document.
 * @param bridge the absolute path of `redline-mcp`.
 */
export function setUpText(bridge: string): string {
  const entry = JSON.stringify({ mcpServers: { redline: { command: 'node', args: [bridge] } } }, null, 2);
  return `# Connect any MCP client

Windows of VS Code now let agents on this machine propose changes (setting \`redline.agents.enabled\`). The agent needs Node 20
or newer on its path, and is to be started in a folder that a window has open.

## 1. Make Redline known to it

Most clients take an entry like this; the program speaks MCP over standard input and output:

\`\`\`json
${entry}
\`\`\`

## 2. Take its own edit tools away

Take its own edit tools and its shell away, if it can do without them.

## 3. Tell it

Add this paragraph to the instructions that it reads, such as \`AGENTS.md\`:

> ${INSTRUCTIONS}

## Disconnect

Remove the entry, then undo steps 2 and 3. *Redline: Disconnect All Agents* ends all connections to VS Code.
`;
}
