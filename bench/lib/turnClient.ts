import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';

/**
 * An OpenAI-compatible server in a thread of its own that answers without delay: to a request with tools by a call of
 * `read_file`, as often as it was told to, and otherwise by text.
 */
export interface TurnServer {
  readonly baseUrl: string;
  /** From now on the next `calls` requests with tools are answered by a call. */
  expect(calls: number): Promise<void>;
  /**
   * The times between the arrivals of two requests since `expect`, in milliseconds. Only gaps after a call count, from when
   * its answer began to when the next request had arrived in full.
   */
  turns(): Promise<readonly number[]>;
}

/** The server at this address. */
export function turnServerAt(baseUrl: string): TurnServer {
  const ask = async (order: string): Promise<unknown> => {
    // On a connection of its own, which is not left open.
    const [answer] = (await once(get(`${baseUrl}/${order}`, { agent: false }), 'response')) as [
      IncomingMessage,
    ];
    return json(answer);
  };
  return {
    baseUrl,
    expect: async calls => void (await ask(`expect/${calls}`)),
    turns: async () => (await ask('turns')) as readonly number[],
  };
}
