/**
 * `npm run chat-page`: serves the chat's real page with conversations of `test/support/chatScenes.ts`, 300 pixels wide in
 * four themes side by side. What is saved of its script, its styles and the scenes is shown at once. Its buttons do
 * nothing: the page's messages are written to the browser's console.
 */
import { bootstrap } from './lib/bootstrap.mjs';

await bootstrap();
const { serveChatPage } = await import('./chat-page/server.mjs');
console.log(`The chat's page is at ${await serveChatPage()}. Ctrl+C ends it.`);
