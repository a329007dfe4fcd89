// Builds dist/: one entry bundle that VS Code loads at activation, one lazy chunk for each npm package that the
// source loads with `import('package')`, and the chat panel's script with its icon font. Prints the sizes and fails
// when the entry outgrows its budget.
import { build, context } from 'esbuild';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { bundledPackages, noticesText } from './scripts/lib/thirdPartyNotices.mjs';

const ENTRY_BUDGET_KB = 250;
const options = {
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node22',
  external: ['vscode'],
  minify: !process.argv.includes('--watch'),
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
  charset: 'utf8',
  metafile: true,
  // CommonJS has no code splitting: `import('x')` of a chunk becomes a lazy `require`.
  supported: { 'dynamic-import': false },
};

/**
 * What the source loads with `import()` becomes a file of its own, loaded on first use: a package, or a part of the source
 * that few sessions need. Such a part gets its own copy of what it imports, so nothing of it may be compared by identity.
 */
function lazyChunks(found) {
  return {
    name: 'lazy-chunks',
    setup(b) {
      b.onResolve({ filter: /./ }, args => {
        if (args.kind !== 'dynamic-import') return undefined;
        const target = args.path.startsWith('.') ? path.resolve(args.resolveDir, args.path) : args.path;
        found.add(target);
        return { path: `./${chunkName(target)}`, external: true };
      });
    },
  };
}
const chunkName = target => {
  const name = path.isAbsolute(target)
    ? path.basename(target, '.ts')
    : target.replace(/[@/]+/g, '-').replace(/^-/, '');
  return `chunk-${name}.cjs`;
};

/** Several builds at once, told as one. */
class Progress {
  #running = 0;

  begin() {
    if (this.#running++ === 0) console.log('build started');
  }

  say(severity, { text, location: at }) {
    console.log(at ? `${at.file}:${at.line}:${at.column + 1}: ${severity}: ${text}` : `${severity}: ${text}`);
  }

  end() {
    if (--this.#running === 0) console.log('build finished');
  }
}

fs.rmSync('dist', { recursive: true, force: true });
const lazy = new Set();
const entry = {
  ...options,
  entryPoints: { extension: 'src/extension.ts' },
  outdir: 'dist',
  outExtension: { '.js': '.cjs' },
  plugins: [lazyChunks(lazy)],
};
/** The worker that searches by structure. Its engine is native code, which lies beside it as it is. */
const astWorker = {
  ...entry,
  entryPoints: { astWorker: 'src/agent/tools/ast/worker.ts' },
  plugins: [
    {
      name: 'native-engine',
      setup(b) {
        const engine = { path: './native/engine.node', external: true };
        b.onResolve({ filter: /^@ast-grep\/napi$/ }, () => engine);
      },
    },
    lazyChunks(lazy),
  ],
};
/** The script of the chat panel: it runs in a browser. */
const chat = {
  ...options,
  entryPoints: { chat: 'src/views/chat/webview/main.ts' },
  outdir: 'dist',
  platform: 'browser',
  format: 'iife',
  target: 'chrome138',
  external: [],
  supported: {},
};
if (process.argv.includes('--watch')) {
  const progress = new Progress();
  progress.begin();
  const contexts = [];
  for (const build of [entry, astWorker, chat]) contexts.push(await context(watched(build, progress)));
  // The first build finds the packages; it may have errors, which are then being worked on.
  for (const each of contexts) await each.rebuild().catch(() => {});
  await buildChunks();
  copyIconFont();
  copyNativeFiles();
  copyCustomTool();
  progress.end();
  for (const each of contexts) await each.watch();
} else {
  const { metafile } = await build(entry);
  fs.mkdirSync('out', { recursive: true });
  fs.writeFileSync('out/meta.json', JSON.stringify(metafile));
  const others = [await build(astWorker), ...(await buildChunks()), await build(chat)];
  const copied = [...copyIconFont(), ...copyNativeFiles()];
  copyCustomTool();
  const packages = bundledPackages([metafile, ...others.map(result => result.metafile)]);
  fs.writeFileSync('dist/ThirdPartyNotices.txt', noticesText([...packages, ...copied]));
  report(packages.length + copied.length);
}

/** Tells in lines that .vscode/tasks.json reads when building begins and ends, and what was wrong. */
function watched(build, progress) {
  const tell = {
    name: 'tell',
    setup(b) {
      b.onStart(() => progress.begin());
      b.onEnd(({ errors, warnings }) => {
        for (const error of errors) progress.say('error', error);
        for (const warning of warnings) progress.say('warning', warning);
        progress.end();
      });
    },
  };
  return { ...build, logLevel: 'silent', plugins: [...(build.plugins ?? []), tell] };
}

/** Returns the folders of the packages that it took from, as `copyNativeFiles` does. */
function copyIconFont() {
  const folder = 'node_modules/@vscode/codicons';
  for (const file of ['codicon.css', 'codicon.ttf'])
    fs.copyFileSync(path.join(folder, 'dist', file), path.join('dist', file));
  return [folder];
}

/**
 * Puts the structural engine and its grammars, as they are compiled for this machine, into dist/native. All get the
 * ending of native modules, by which packaging knows them. A package made on one platform is for that platform.
 */
function copyNativeFiles() {
  const scope = path.join('node_modules', '@ast-grep');
  const system = { linux: 'Linux', darwin: 'macOS', win32: 'Windows' }[process.platform];
  const prebuilt = path.join('prebuilds', `prebuild-${system}-${process.arch.toUpperCase()}`, 'parser.so');
  fs.mkdirSync('dist/native', { recursive: true });
  const taken = [];
  for (const name of fs.readdirSync(scope)) {
    const folder = path.join(scope, name);
    const engine = name.startsWith('napi-') && fs.readdirSync(folder).find(file => file.endsWith('.node'));
    if (engine) {
      fs.copyFileSync(path.join(folder, engine), 'dist/native/engine.node');
      taken.push(path.join(scope, 'napi')); // Its licence is there.
    }
    const grammar = path.join(folder, prebuilt);
    if (name.startsWith('lang-') && fs.existsSync(grammar)) {
      fs.copyFileSync(grammar, `dist/native/grammar-${name.slice('lang-'.length)}.node`);
      taken.push(folder);
    }
  }
  if (!fs.existsSync('dist/native/engine.node'))
    throw new Error(`There is no structural engine for ${process.platform} ${process.arch} in ${scope}.`);
  return taken;
}

/** What *New Custom Tool* writes: an example and the types for authors. */
function copyCustomTool() {
  fs.mkdirSync('dist/customTool', { recursive: true });
  for (const file of ['sort_lines.ts', 'redline.d.ts']) {
    fs.copyFileSync(path.join('examples/tools', file), path.join('dist/customTool', file));
  }
}

async function buildChunks() {
  const results = [];
  // A chunk may load others: those join the set while it is walked.
  for (const target of lazy) {
    const result = await build({
      ...options,
      stdin: { contents: `module.exports = require(${JSON.stringify(target)})`, resolveDir: process.cwd() },
      outfile: path.join('dist', chunkName(target)),
      plugins: [lazyChunks(lazy)],
      sourcemap: false,
      // It imports what others have written, which may be a module that only `import()` takes.
      ...(target === 'jiti' ? { supported: {} } : {}),
    });
    results.push(result);
  }
  return results;
}

function report(packages) {
  const kb = file => fs.statSync(path.join('dist', file)).size / 1024;
  console.log(
    `entry  dist/extension.cjs ${kb('extension.cjs').toFixed(0)} KB (budget ${ENTRY_BUDGET_KB} KB)`,
  );
  for (const target of [...lazy].sort()) {
    const what = path.isAbsolute(target) ? path.relative('.', target) : target;
    console.log(`lazy   dist/${chunkName(target)} ${kb(chunkName(target)).toFixed(0)} KB (${what})`);
  }
  const native = fs.readdirSync('dist/native').map(file => kb(path.join('native', file)));
  console.log(`worker dist/astWorker.cjs ${kb('astWorker.cjs').toFixed(0)} KB`);
  console.log(
    `native dist/native/ ${(native.reduce((a, b) => a + b) / 1024).toFixed(1)} MB in ${native.length} files`,
  );
  console.log(
    `notice dist/ThirdPartyNotices.txt ${kb('ThirdPartyNotices.txt').toFixed(0)} KB (${packages} packages)`,
  );
  console.log(`view   dist/chat.js ${kb('chat.js').toFixed(0)} KB`);
  if (kb('extension.cjs') > ENTRY_BUDGET_KB) {
    console.error('The entry bundle is over its budget: load what grew with import(), or raise the budget.');
    process.exitCode = 1;
  }
}
