import { sendableText } from '../../session/model/toolCalls.ts';
import { AgentClient, type ClientHost, type ClientIdentity } from '../agentClient.ts';
import { agentNameOf } from '../agentName.ts';
import { HEARD } from './proof.ts';
import type { ClientInfo, ServedTools } from './toolServer.ts';

/** An agent that is known before it has told its name, see `ClientIdentity`. */
export type KnownAgent = Pick<ClientIdentity, 'id' | 'heard' | 'cwd'>;

/** One agent in a window. It exists once it has given its name, which it does with or before its first request. */
export function agentIn(host: ClientHost, { id, heard, cwd }: KnownAgent, client: ClientInfo): AgentClient {
  return new AgentClient(host, {
    id: `agent-${id}`,
    agent: agentNameOf(client, host.l10n),
    heard,
    cwd,
  });
}

/** The tools of a client's agent. */
export function toolsOf(agentOf: (client: ClientInfo) => AgentClient): ServedTools {
  return {
    tools: client => agentOf(client).tools,
    call: async ({ name, args, signal, client, onProgress }) => {
      const agent = agentOf(client);
      let progress = 0;
      const report = onProgress && ((message: string) => onProgress({ progress: ++progress, message }));
      const { text, isError } = await agent.call(name, args, signal, report);
      return {
        content: [{ type: 'text', text: sendableText(text) }],
        isError,
        _meta: { [HEARD]: agent.heard },
      };
    },
  };
}
