/** The server of `npm run chat-page`. */
import { context } from 'esbuild';
import * as fs from 'node:fs';
import { createServer } from 'node:http';
import * as path from 'node:path';
import { pathToFileURL } from 'node:url';
import { inRepo } from '../lib/paths.mjs';
import { chatHtml } from '../../src/views/chat/chatHtml.ts';
import { themeCss, THEMES } from './themes.mjs';

const FILES = {
  '/chat.css': { file: inRepo('media', 'chat.css'), type: 'text/css' },
  '/codicon.css': { file: inRepo('node_modules/@vscode/codicons/dist/codicon.css'), type: 'text/css' },
  '/codicon.ttf': { file: inRepo('node_modules/@vscode/codicons/dist/codicon.ttf'), type: 'font/ttf' },
  '/favicon.ico': { file: inRepo('media', 'icon.png'), type: 'image/png' },
};
const LANGUAGES = ['en', 'de', 'zh-cn'];
const NONCE = 'chat-page';

/**
 * Serves the page on this machine only, and tells its browsers to load it again after each change.
 * @param {number} port 0 for any that is free
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 */
export async function serveChatPage(port) {
  /** @type {Set<import('node:http').ServerResponse>} */
  const listening = new Set();
  const reload = () => {
    for (const response of listening) response.write('data: reload\n\n');
  };
  const built = await builds(reload);
  const styles = fs.watch(path.dirname(FILES['/chat.css'].file), reload);
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (url.pathname === '/changes') {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      listening.add(response);
      response.on('close', () => listening.delete(response));
      return;
    }
    answer(url, built).then(
      ({ type, body }) =>
        response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' }).end(body),
      error => response.writeHead(404, { 'content-type': 'text/plain' }).end(String(error)),
    );
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(undefined));
  });
  const close = async () => {
    styles.close();
    for (const response of listening) response.end();
    await new Promise(resolve => server.close(resolve));
    await built.dispose();
  };
  return { url: `http://127.0.0.1:${server.address().port}/`, close };
}

/** Builds the page's script and the scenes now and after each change, of which it tells. */
async function builds(onChange) {
  const scenesFile = inRepo('out', 'chat-page', 'scenes.mjs');
  let version = 0;
  const telling = {
    name: 'telling',
    setup(b) {
      b.onEnd(() => {
        version++;
        onChange();
      });
    },
  };
  const common = { bundle: true, logLevel: 'warning', plugins: [telling] };
  const script = await context({
    ...common,
    entryPoints: [inRepo('src/views/chat/webview/main.ts')],
    outfile: inRepo('out', 'chat-page', 'chat.js'),
    platform: 'browser',
    format: 'iife',
    sourcemap: 'inline',
  });
  const scenes = await context({
    ...common,
    entryPoints: [inRepo('test/support/chatScenes.ts')],
    outfile: scenesFile,
    platform: 'node',
    format: 'esm',
    // Of a package of the old format, in which a scene may take its words.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  for (const each of [script, scenes]) {
    await each.rebuild();
    await each.watch();
  }
  return {
    script: () => fs.promises.readFile(inRepo('out', 'chat-page', 'chat.js'), 'utf8'),
    scenes: async () => (await import(`${pathToFileURL(scenesFile)}?${version}`)).chatScenes,
    dispose: () => Promise.all([script.dispose(), scenes.dispose()]),
  };
}

/** The content at an address. @throws {Error} when there is none */
async function answer({ pathname, searchParams }, built) {
  const scenes = await built.scenes();
  const scene = searchParams.get('scene') ?? Object.keys(scenes)[0];
  const language = searchParams.get('language') ?? LANGUAGES[0];
  const theme = searchParams.get('theme') ?? Object.keys(THEMES)[0];
  if (!(scene in scenes)) throw new Error(`There is no scene ${scene}.`);
  if (!(theme in THEMES)) throw new Error(`There is no theme ${theme}.`);
  if (!LANGUAGES.includes(language)) throw new Error(`There is no language ${language}.`);
  const file = FILES[pathname];
  if (file) return { type: file.type, body: await fs.promises.readFile(file.file) };
  switch (pathname) {
    case '/':
      return { type: 'text/html', body: overview(Object.keys(scenes), scene, language) };
    case '/panel':
      return { type: 'text/html', body: panel(theme, new URLSearchParams({ scene, language })) };
    case '/theme.css':
      return { type: 'text/css', body: themeCss(theme) };
    case '/host.js':
      return { type: 'text/javascript', body: hostScript([texts(language), scenes[scene]()]) };
    case '/chat.js':
      return { type: 'text/javascript', body: await built.script() };
    default:
      throw new Error(`There is nothing at ${pathname}.`);
  }
}

/** The page in one theme: the extension's HTML, and the part of VS Code's webview that it needs. */
function panel(theme, shown) {
  const query = new URLSearchParams({ theme });
  const html = chatHtml({
    cspSource: "'self'",
    nonce: NONCE,
    scriptUri: '/chat.js',
    styleUris: [`/theme.css?${query}`, '/codicon.css', '/chat.css'],
    language: shown.get('language') ?? 'en',
    title: 'Redline Chat',
  });
  return html.replace(
    '<body>',
    `<body class="${THEMES[theme]}">\n<script nonce="${NONCE}" src="/host.js?${shown.toString().replaceAll('&', '&amp;')}"></script>`,
  );
}

/** Gives the page these messages once it is ready. */
function hostScript(messages) {
  return `let state;
globalThis.acquireVsCodeApi = () => ({
  postMessage(message) {
    console.log('the page says', message);
    if (message.type === 'ready') for (const data of ${JSON.stringify(messages)}) dispatchEvent(new MessageEvent('message', { data }));
  },
  getState: () => state,
  setState: next => { state = next; },
});
`;
}

function texts(language) {
  const file = inRepo('l10n', `bundle.l10n.${language}.json`);
  return { type: 'language', texts: language === 'en' ? {} : JSON.parse(fs.readFileSync(file, 'utf8')) };
}

/** All themes of one scene beside each other. */
function overview(names, scene, language) {
  const link = (text, query, isHere) =>
    isHere ? `<b>${text}</b>` : `<a href="/?${new URLSearchParams(query)}">${text}</a>`;
  const frames = Object.keys(THEMES).map(
    theme =>
      `<figure><figcaption>${theme}</figcaption><iframe title="${theme}" src="/panel?${new URLSearchParams({ theme, scene, language })}"></iframe></figure>`,
  );
  return `<!DOCTYPE html>
<meta charset="utf-8">
<title>Chat page: ${scene}</title>
<style>
  body { font: 13px system-ui; margin: 8px; }
  nav a, nav b { margin-right: 12px; }
  main { display: flex; gap: 8px; }
  figure { margin: 8px 0; }
  iframe { width: 300px; height: calc(100vh - 90px); border: 1px solid #8888; }
</style>
<nav>${names.map(name => link(name, { scene: name, language }, name === scene)).join('')} |
${LANGUAGES.map(each => link(each, { scene, language: each }, each === language)).join('')}</nav>
<main>${frames.join('')}</main>
<script>
  new EventSource('/changes').onmessage = () => {
    for (const frame of document.querySelectorAll('iframe')) frame.contentWindow.location.reload();
  };
</script>
`;
}
