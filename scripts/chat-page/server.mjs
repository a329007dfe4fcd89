/** The server of `npm run chat-page`: that of esbuild, which tells its pages of each change. */
import { build, context } from 'esbuild';
import * as fs from 'node:fs';
import { pathToFileURL } from 'node:url';
import { inRepo, repoRoot } from '../lib/paths.mjs';
import { chatHtml } from '../../src/views/chat/chatHtml.ts';
import { themeCss, THEMES } from './themes.mjs';

const NONCE = 'chat-page';
const folder = inRepo('out', 'chat-page');

/** The part of VS Code's webview that the page needs. Its messages go to the page around it. */
const HOST = `let state;
globalThis.acquireVsCodeApi = () => ({
  postMessage: message => parent.postMessage(message),
  getState: () => state,
  setState: next => { state = next; },
});
`;
const OVERVIEW = `<!DOCTYPE html>
<meta charset="utf-8">
<title>Chat page</title>
<style>
  body { font: 13px system-ui; margin: 8px; }
  nav a { margin-right: 12px; }
  a.here { font-weight: bold; }
  main { display: flex; gap: 8px; }
  figure { margin: 8px 0; }
  iframe { width: 300px; height: calc(100vh - 90px); border: 1px solid #8888; }
</style>
<nav></nav>
<main></main>
<script src="/overview.js"></script>
`;

/** Serves the page on this machine only. @returns {Promise<string>} its address */
export async function serveChatPage() {
  fs.mkdirSync(folder, { recursive: true });
  const write = (name, text) => fs.writeFileSync(`${folder}/${name}`, text);
  write('index.html', OVERVIEW);
  write('host.js', HOST);
  for (const [at, [theme, classes]] of Object.entries(THEMES).entries()) {
    write(`theme-${at}.css`, themeCss(theme));
    const html = chatHtml({
      cspSource: "'self'",
      nonce: NONCE,
      scriptUri: '/chat.js',
      styleUris: [`/theme-${at}.css`, '/codicon.css', '/style.css'],
      language: 'en',
      title: 'Redline Chat',
    });
    const host = `<body class="${classes}">\n<script nonce="${NONCE}" src="/host.js"></script>`;
    write(`panel-${at}.html`, html.replace('<body>', host));
  }
  const built = await context({
    bundle: true,
    logLevel: 'warning',
    sourcemap: 'inline',
    entryPoints: {
      chat: inRepo('src/views/chat/webview/main.ts'),
      style: inRepo('media/chat.css'),
      codicon: inRepo('node_modules/@vscode/codicons/dist/codicon.css'),
      overview: inRepo('scripts/chat-page/overview.mjs'),
    },
    outdir: folder,
    loader: { '.ttf': 'file' },
    plugins: [messages],
  });
  await built.watch();
  const { port } = await built.serve({ servedir: folder, host: '127.0.0.1', port: 4300 });
  return `http://127.0.0.1:${port}/`;
}

/** Loads the scenes as the messages that they make: making them needs Node. */
const messages = {
  name: 'messages',
  setup({ onLoad }) {
    onLoad({ filter: /chatScenes\.ts$/ }, async () => {
      const outfile = `${folder}/scenes.mjs`;
      const { metafile } = await build({
        bundle: true,
        entryPoints: [inRepo('test/support/chatScenes.ts')],
        outfile,
        platform: 'node',
        format: 'esm',
        metafile: true,
        absWorkingDir: repoRoot,
        // Of a package of the old format, in which a scene may take its words.
        banner: {
          js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
        },
      });
      const { chatScenes } = await import(`${pathToFileURL(outfile)}?${Date.now()}`);
      const made = Object.fromEntries(Object.entries(chatScenes).map(([name, scene]) => [name, scene()]));
      const watchFiles = Object.keys(metafile.inputs).map(file => inRepo(file));
      return { contents: JSON.stringify({ chatScenes: made }), loader: 'json', watchFiles };
    });
  },
};
