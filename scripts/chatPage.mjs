/**
 * `npm run chat-page`: serves the chat's real page with conversations of `test/support/chatScenes.ts`, 300 pixels wide in
 * four themes side by side. What is saved of its script, its styles and the scenes is shown at once. Its buttons do
 * nothing: the page's messages are written to the browser's console.
 *
 *   npm run chat-page -- --port=4300
 */
import { parseArgs } from 'node:util';
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { values } = parseArgs({ options: { port: { type: 'string', default: '4300' } } });
const { serveChatPage } = await import('./chat-page/server.mjs');
console.log(`The chat's page is at ${await serveChatPage(Number(values.port))}. Ctrl+C ends it.`);
