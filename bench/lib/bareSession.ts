import { readFile } from 'node:fs/promises';
import * as path from 'node:path';
import OpenAI from 'openai';

/** What an agent is without everything else: request, call, file, next request. */
export async function bareSession(folder: string, baseUrl: string): Promise<void> {
  const client = new OpenAI({ baseURL: baseUrl, apiKey: 'key' });
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Read it.' }];
  const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
  const tools = [{ type: 'function' as const, function: { name: 'read_file', parameters } }];
  for (;;) {
    const stream = await client.chat.completions.create({ model: 'm', messages, tools, stream: true });
    let call: { id: string; name: string; arguments: string } | undefined;
    for await (const { choices } of stream) {
      for (const { id, function: f } of choices[0]?.delta.tool_calls ?? []) {
        if (id) call = { id, name: f?.name ?? '', arguments: '' };
        if (call) call.arguments += f?.arguments ?? '';
      }
    }
    if (!call) return;
    const { path: file } = JSON.parse(call.arguments) as { path: string };
    const content = await readFile(path.join(folder, file), 'utf8');
    const made = { name: call.name, arguments: call.arguments };
    messages.push(
      { role: 'assistant', content: '', tool_calls: [{ id: call.id, type: 'function', function: made }] },
      { role: 'tool', tool_call_id: call.id, content },
    );
  }
}
