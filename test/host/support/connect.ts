import {
  startScriptedServer,
  type Script,
  type ScriptedServer,
  type ScriptedServerOptions,
} from '../../support/scriptedServer.ts';
import { setting } from './redline.ts';

/**
 * Starts a scripted server and connects Redline to it, in the given mode. Each preview is forced, so that a test need not end a
 * turn to see the model vote; `forcing` says otherwise.
 */
export async function connect(
  script: Script,
  {
    modelAuthority = 'recommend',
    forcing = 'forced',
    ...options
  }: ScriptedServerOptions & { modelAuthority?: string; forcing?: string } = {},
): Promise<ScriptedServer> {
  const server = await startScriptedServer(script, options);
  await setting('openai.baseUrl', server.baseUrl);
  await setting('openai.model', 'scripted');
  await setting('provider', 'openai');
  await setting('resolve.modelAuthority', modelAuthority);
  await setting('resolve.forcing', forcing);
  return server;
}

/** All messages of one request to the model, as JSON. */
export function textOfRequest(server: ScriptedServer, n: number): string {
  const { messages } = server.requests[n]?.body ?? {};
  return JSON.stringify(messages);
}
