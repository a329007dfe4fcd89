import { english } from '../../base/localiser.ts';
import { INSTRUCTIONS } from '../clientTools.ts';
import { connectedText } from './connectedText.ts';
import type { KnownAgent } from './knownAgents.ts';

/**
 * Steps to connect an agent by hand, as a Markdown document.
 * @param agent `undefined` for one that Redline does not know.
 * @param bridge the absolute path of `redline-mcp`.
 */
export async function setUpText(agent: KnownAgent | undefined, bridge: string): Promise<string> {
  return `# Connect ${agent?.name ?? 'any MCP client'}

Windows of VS Code now let agents on this machine propose changes (setting \`redline.agents.enabled\`). The agent needs Node 20
or newer on its path, and is to be started in a folder that a window has open.

${agent ? await filesText(agent, bridge) : anyClientText(bridge)}
## Disconnect

Remove what you added. *Redline: Disconnect All Agents* ends all connections to VS Code.
`;
}

/** Each file as it would be if it were new. */
async function filesText({ files, shell }: KnownAgent, bridge: string): Promise<string> {
  let text = 'Its files in this folder are to hold this, beside what they hold already:\n\n';
  for (const file of files) {
    const name = file.names.at(-1) ?? '';
    const content = await connectedText(file, name, null, bridge);
    text += `\`${name}\`\n\n\`\`\`${name.slice(name.lastIndexOf('.') + 1)}\n${content}\`\`\`\n\n`;
  }
  return `${text}Start it in the folder, or start it again. ${shell(english)}\n`;
}

function anyClientText(bridge: string): string {
  const entry = JSON.stringify({ mcpServers: { redline: { command: 'node', args: [bridge] } } }, null, 2);
  return `## 1. Make Redline known to it

Most clients take an entry like this; the program speaks MCP over standard input and output:

\`\`\`json
${entry}
\`\`\`

## 2. Take its own tools away

Until you take its edit tools and its shell away, its own tools still write. Where you cannot, let it work in a terminal that holds
back all of it: *Redline: Open Agent Terminal…* (on Linux).

## 3. Tell it

Add this paragraph to the instructions that it reads, such as \`AGENTS.md\`:

> ${INSTRUCTIONS}
`;
}
