// Builds dist/: the extension as ES modules (an entry that VS Code loads at activation, and chunks for what the source
// loads with `import()`), the worker of the structural search, and the chat panel's script with its icon font. Prints
// the sizes, and fails if what is loaded at activation exceeds its budget. `--target=…` tells for which platform; else it is
// this one. `--small` compresses the native files as `npm run package` ships them.
import { build, context } from 'esbuild';
import * as fs from 'node:fs';
import { isBuiltin } from 'node:module';
import * as path from 'node:path';
import { eagerOutputs } from './scripts/lib/eagerOutputs.mjs';
import { bundledPackages, noticesText } from './scripts/lib/thirdPartyNotices.mjs';
import { packNativeFiles } from './scripts/packaging/packNative.mjs';
import { askedTargets, ownTarget } from './scripts/packaging/targets.mjs';

/** Guards against a package that slips in; a little growth of our own code is fine. */
const EAGER_BUDGET_KB = 376;
const options = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  outdir: 'dist',
  minify: !process.argv.includes('--watch'),
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
  charset: 'utf8',
  metafile: true,
};

/** CommonJS packages `require` modules of Node, but ES modules have no `require`. */
const requiredNodeModules = {
  name: 'required-node-modules',
  setup(b) {
    b.onResolve({ filter: /./ }, ({ kind, path }) =>
      kind === 'require-call' && isBuiltin(path) ? { path, namespace: 'required-node-module' } : undefined,
    );
    b.onLoad({ filter: /./, namespace: 'required-node-module' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};

/** jiti requires them too, in code that esbuild does not see. */
const nodeModulesOfJiti = {
  name: 'node-modules-of-jiti',
  setup(b) {
    b.onLoad({ filter: /[\\/]jiti[\\/]dist[\\/]\w+\.cjs$/ }, ({ path: file }) => ({
      contents: `const require = process.getBuiltinModule;${fs.readFileSync(file, 'utf8')}`,
    }));
  },
};

/**
 * Custom tools get the whole of zod, in a file of its own. Were it split like the rest, the few functions that the
 * extension itself needs would pull its modules into what is loaded at activation.
 */
const zod = { ...options, entryPoints: { 'chunks/zod': 'zod' } };
const zodForCustomTools = {
  name: 'zod-for-custom-tools',
  setup(b) {
    b.onResolve({ filter: /^zod$/ }, ({ importer }) =>
      importer.endsWith(path.join('loading', 'parameters.ts'))
        ? { path: './zod.js', external: true }
        : undefined,
    );
  },
};

/**
 * In Node, the MCP SDK brings ajv along, to check what users answer to questions of a server. Ours asks none: the small one of its
 * two validators saves a fifth of the SDK.
 */
const smallValidatorOfMcpSdk = {
  name: 'small-validator-of-mcp-sdk',
  setup(b) {
    b.onResolve({ filter: /^@modelcontextprotocol\/server\/_shims$/ }, ({ path: imported }) => ({
      path: imported,
      namespace: 'small-validator',
    }));
    b.onLoad({ filter: /./, namespace: 'small-validator' }, () => ({
      contents: `export { default as process } from 'node:process';
        export { CfWorkerJsonSchemaValidator as DefaultJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker';`,
      resolveDir: process.cwd(),
    }));
  },
};

/** The MCP SDK shares modules of zod with the entry too, so what the server uses of it is a file of its own. */
const mcpSdk = {
  ...options,
  entryPoints: { 'chunks/mcpSdk': 'src/agent/clients/mcp/sdk.ts' },
  plugins: [requiredNodeModules, smallValidatorOfMcpSdk],
};
const mcpSdkApart = {
  name: 'mcp-sdk-apart',
  setup(b) {
    const file = path.join('clients', 'mcp', 'sdk.ts');
    b.onResolve({ filter: /\/sdk\.ts$/ }, ({ path: imported, resolveDir }) =>
      path.join(resolveDir, imported).endsWith(file) ? { path: './mcpSdk.js', external: true } : undefined,
    );
  },
};

/** So does what describes tools to a model, which only requests need. */
const toolSpec = { ...options, entryPoints: { 'chunks/toolSpec': 'src/agent/session/tools/toolSpec.ts' } };
const toolSpecApart = {
  name: 'tool-spec-apart',
  setup(b) {
    b.onResolve({ filter: /\/toolSpec\.ts$/ }, () => ({ path: './toolSpec.js', external: true }));
  },
};

/**
 * Code that is loaded with `import()` runs when the entry's modules are loaded already. Importing the entry from it tells
 * esbuild so, which then keeps the entry's modules in one chunk instead of making one for each set of importers.
 */
const entryIsLoadedFirst = {
  name: 'entry-is-loaded-first',
  setup(b) {
    b.onResolve({ filter: /^\./ }, ({ kind, path: file, resolveDir }) =>
      kind === 'dynamic-import' && !resolveDir.includes('node_modules')
        ? { path: path.join(resolveDir, file), namespace: 'lazy' }
        : undefined,
    );
    b.onLoad({ filter: /./, namespace: 'lazy' }, ({ path: file }) => ({
      contents: `import './src/extension.ts'; export * from ${JSON.stringify(file)};`,
      resolveDir: process.cwd(),
    }));
  },
};

const extension = {
  ...options,
  entryPoints: { extension: 'src/extension.ts' },
  chunkNames: 'chunks/[name]-[hash]',
  splitting: true,
  external: ['vscode'],
  alias: {
    // This variant imports its transform, so that it can be bundled.
    jiti: 'jiti/static',
    // What the package names first requires its parts in a way that cannot be bundled.
    'jsonc-parser': 'jsonc-parser/lib/esm/main.js',
  },
  plugins: [
    ...[requiredNodeModules, nodeModulesOfJiti, zodForCustomTools, mcpSdkApart, toolSpecApart],
    entryIsLoadedFirst,
  ],
};

/** The worker that searches by structure: a single file, since it shares no modules with the extension. */
const astWorker = {
  ...options,
  entryPoints: { astWorker: 'src/agent/session/tools/ast/worker/worker.ts' },
  // Native code cannot be bundled: the worker loads the file that it has unpacked.
  external: ['@ast-grep/napi'],
};

/** The worker that searches texts line by line. It is ended when a pattern takes too long. */
const lineWorker = { ...options, entryPoints: { lineWorker: 'src/views/chat/search/lineWorker.ts' } };

/** The worker that copies the workspace for an agent's view. */
const freezeWorker = {
  ...options,
  entryPoints: { freezeWorker: 'src/agent/sandbox/agentView/freezeWorker.ts' },
};

/**
 * The program that agents of other programs start to reach Redline. It is copied to where it stays when the extension is
 * updated, so it is a single file that needs no package.json beside it.
 */
const bridge = {
  ...options,
  entryPoints: { 'redline-mcp': 'src/agent/clients/stdio/main.ts' },
  format: 'cjs',
  target: 'node20',
  outExtension: { '.js': '.cjs' },
  plugins: [smallValidatorOfMcpSdk],
  sourcemap: false,
  define: { REDLINE_VERSION: JSON.stringify(JSON.parse(fs.readFileSync('package.json', 'utf8')).version) },
};

/** The program that starts agents in views, which is copied like that one. */
const runner = {
  ...bridge,
  entryPoints: { 'redline-run': 'src/agent/clients/run/main.ts' },
};

/** The program that agents run before each of their tools, likewise. */
const gate = {
  ...bridge,
  entryPoints: { 'redline-gate': 'src/agent/clients/gate/main.ts' },
};

/** The script of the chat panel, which runs in a browser. */
const chat = {
  ...options,
  entryPoints: { chat: 'src/views/chat/webview/main.ts' },
  platform: 'browser',
  format: 'iife',
  target: 'chrome138',
};

/** Reports several builds that run at once as one build. */
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

const [target] = askedTargets(process.argv) ?? [ownTarget()];
const builds = [
  extension,
  zod,
  mcpSdk,
  toolSpec,
  astWorker,
  lineWorker,
  freezeWorker,
  bridge,
  gate,
  runner,
  chat,
];
fs.rmSync('dist', { recursive: true, force: true });
const copied = [...copyIconFont(), ...(await packNativeFiles(target, process.argv.includes('--small')))];
copyCustomTool();
if (process.argv.includes('--watch')) {
  const progress = new Progress();
  progress.begin();
  const contexts = [];
  for (const each of builds) contexts.push(await context(watched(each, progress)));
  // Errors of the first build are reported, and watching goes on.
  for (const each of contexts) await each.rebuild().catch(() => {});
  progress.end();
  for (const each of contexts) await each.watch();
} else {
  const metafiles = [];
  for (const each of builds) metafiles.push((await build(each)).metafile);
  const [{ outputs }] = metafiles;
  fs.mkdirSync('out', { recursive: true });
  fs.writeFileSync('out/meta.json', JSON.stringify(metafiles[0]));
  const packages = [...bundledPackages(metafiles), ...copied];
  fs.writeFileSync('dist/ThirdPartyNotices.txt', noticesText(packages));
  report(outputs, packages.length);
}

/** Adds a plugin that prints when a build begins and ends, and its errors, as .vscode/tasks.json expects it. */
function watched(build, progress) {
  const progressLines = {
    name: 'progress-lines',
    setup(b) {
      b.onStart(() => progress.begin());
      b.onEnd(({ errors, warnings }) => {
        for (const error of errors) progress.say('error', error);
        for (const warning of warnings) progress.say('warning', warning);
        progress.end();
      });
    },
  };
  return { ...build, logLevel: 'silent', plugins: [...(build.plugins ?? []), progressLines] };
}

/** Returns the folder of the package that the files come from, as `packNativeFiles` does. */
function copyIconFont() {
  fs.mkdirSync('dist', { recursive: true });
  const folder = 'node_modules/@vscode/codicons';
  for (const file of ['codicon.css', 'codicon.ttf'])
    fs.copyFileSync(path.join(folder, 'dist', file), path.join('dist', file));
  return [folder];
}

/** Copies what *New Custom Tool* writes: an example, and types for authors. */
function copyCustomTool() {
  fs.mkdirSync('dist/customTool', { recursive: true });
  for (const file of ['sort_lines.ts', 'redline.d.ts']) {
    fs.copyFileSync(path.join('examples/tools', file), path.join('dist/customTool', file));
  }
}

function report(outputs, packages) {
  const kb = file => fs.statSync(file).size / 1024;
  const say = (what, file, more = '') =>
    console.log(`${what.padEnd(6)} ${file} ${kb(file).toFixed(0)} KB${more}`);
  const eager = eagerOutputs(outputs);
  const total = eager.reduce((sum, file) => sum + kb(file), 0);
  for (const file of eager) say('eager', file);
  for (const file of Object.keys(outputs).filter(name => name.endsWith('.js') && !eager.includes(name)))
    say('lazy', file);
  say('lazy', 'dist/chunks/zod.js');
  say('lazy', 'dist/chunks/mcpSdk.js');
  say('worker', 'dist/astWorker.js');
  say('worker', 'dist/lineWorker.js');
  say('worker', 'dist/freezeWorker.js');
  say('stdio', 'dist/redline-mcp.cjs');
  say('stdio', 'dist/redline-gate.cjs');
  say('stdio', 'dist/redline-run.cjs');
  const native = fs
    .readdirSync('dist/native', { recursive: true })
    .filter(file => file.endsWith('.br'))
    .map(file => kb(path.join('dist/native', file)));
  console.log(
    `native dist/native/ ${(native.reduce((a, b) => a + b) / 1024).toFixed(1)} MB in ${native.length} files`,
  );
  say('notice', 'dist/ThirdPartyNotices.txt', ` (${packages} packages)`);
  say('view', 'dist/chat.js');
  console.log(`loaded at activation: ${total.toFixed(0)} KB (budget ${EAGER_BUDGET_KB} KB)`);
  if (total > EAGER_BUDGET_KB) {
    console.error('That exceeds the budget: load what grew with import(), or raise the budget.');
    process.exitCode = 1;
  }
}
