import * as fs from 'node:fs';
import * as path from 'node:path';
import ts from 'typescript';
import { parseSlashCommand } from '../../../src/agent/session/model/offline/slashCommands.ts';
import { CustomToolWorld } from '../../support/customToolWorld.ts';
import { ToolHarness } from '../../support/toolHarness.ts';
import { manifest, settings, type SettingSchema } from './names.ts';
import { read, root, type Block } from '../../support/docs/pages.ts';

type Checker = (block: Block) => readonly string[] | Promise<readonly string[]>;

/** How the blocks of each language are checked. */
const CHECKERS: Readonly<Record<string, Checker>> = {
  ts: async block => [...typeErrors(block), ...(await toolFaults(block, 'ts'))],
  js: async block => [...syntaxErrors(block), ...(await toolFaults(block, 'js'))],
  json: settingFaults,
  sh: ({ code }) => code.trim().split('\n').flatMap(shellFaults),
  slash: slashFaults,
  text: drawingFaults,
  // The sentences that a model is told, which are made from the source.
  model: () => [],
};

/** What is wrong with a block. A block in a language without a checker is a fault. */
export async function faultsOfBlock(block: Block): Promise<string[]> {
  const at = `${block.page}:${block.line}`;
  const check = CHECKERS[block.language];
  if (!check) return [`${at}: no test checks a block in the language “${block.language}”`];
  return (await check(block)).map(fault => `${at}: ${fault}`);
}

/** Where blocks are compiled, as if they were files there: beside `redline.d.ts`. */
const FOLDER = path.join(root, 'examples/tools');

/** Files on the disk, which every block shares: parsing them takes longer than checking a block. */
const parsedFiles = new Map<string, ts.SourceFile>();

/** The errors of the TypeScript compiler in a block. `redline-api.d.ts` is the block of docs/api.md. */
export function typeErrors({ code }: Pick<Block, 'code'>): string[] {
  const api = /```ts\n([^]*?)```/.exec(read('docs/api.md'))?.[1] ?? '';
  const files = new Map([
    [path.join(FOLDER, 'block.ts'), code],
    [path.join(FOLDER, 'redline-api.d.ts'), api],
  ]);
  const options: ts.CompilerOptions = {
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    allowImportingTsExtensions: true,
    lib: ['lib.es2024.d.ts', 'lib.esnext.disposable.d.ts'],
    types: ['node'],
    skipLibCheck: true,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = file => files.has(file) || fileExists.call(host, file);
  host.readFile = file => files.get(file) ?? readFile.call(host, file);
  host.getSourceFile = (file, ...rest) => {
    const own = files.get(file);
    if (own !== undefined) return ts.createSourceFile(file, own, ts.ScriptTarget.ESNext);
    const parsed = parsedFiles.get(file) ?? getSourceFile.call(host, file, ...rest);
    if (parsed) parsedFiles.set(file, parsed);
    return parsed;
  };
  const [entry = ''] = files.keys();
  const program = ts.createProgram([entry], options, host);
  // What they import is checked with the rest of the source.
  return errorsOf([...files.keys()].flatMap(file => diagnosticsOf(program, file)));
}

function diagnosticsOf(program: ts.Program, file: string): readonly ts.Diagnostic[] {
  const source = program.getSourceFile(file);
  return source ? ts.getPreEmitDiagnostics(program, source) : [];
}

function syntaxErrors({ code }: Block): string[] {
  const { diagnostics = [] } = ts.transpileModule(code, { reportDiagnostics: true, fileName: 'block.js' });
  return errorsOf(diagnostics);
}

function errorsOf(diagnostics: readonly ts.Diagnostic[]): string[] {
  return diagnostics.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

/** Loads a custom tool as the extension does. Other code is not a tool: it has no default export. */
async function toolFaults({ code }: Block, extension: string): Promise<string[]> {
  if (!/^export default /m.test(code)) return [];
  const world = await CustomToolWorld.create();
  try {
    const faults = await world.faults(`block.${extension}`, code);
    return faults.map(fault => `the tool does not load: ${JSON.stringify(fault)}`);
  } finally {
    await world.dispose();
  }
}

/** JSON, or some members of an object. Settings of Redline must exist, and take the value. */
function settingFaults({ code }: Block): string[] {
  let value: unknown;
  try {
    value = JSON.parse(/^\s*[[{]/.test(code) ? code : `{${code}}`);
  } catch (error) {
    return [`is not JSON: ${(error as Error).message}`];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value)
    .filter(([name]) => name.startsWith('redline.'))
    .flatMap(([name, given]) => {
      const schema = settings[name];
      if (!schema) return [`there is no setting ${name}`];
      return fits(given, schema) ? [] : [`${name} cannot be ${JSON.stringify(given)}`];
    });
}

function fits(value: unknown, schema: SettingSchema): boolean {
  const { type, enum: choices, minimum, maximum, items, properties = {}, required = [] } = schema;
  if (type === 'array')
    return Array.isArray(value) && value.every(item => items !== undefined && fits(item, items));
  if (type === 'object') {
    if (typeof value !== 'object' || value === null) return false;
    const isKnown = Object.entries(value).every(([name, part]) => {
      const property = properties[name] ?? schema.additionalProperties;
      return Boolean(property) && fits(part, property as SettingSchema);
    });
    return isKnown && required.every(name => Object.hasOwn(value, name));
  }
  if (typeof value !== type) return false;
  if (typeof value === 'number') return value >= (minimum ?? -Infinity) && value <= (maximum ?? Infinity);
  return choices === undefined || choices.includes(value as string);
}

/** Programs that a reader has, with what follows them. */
const PROGRAMS: Readonly<Record<string, RegExp>> = {
  git: /^clone \S+( \S+)?$/,
  cd: /^\S+$/,
  code: /^(\.|--install-extension \S+\.vsix)$/,
  ollama: /^(pull|serve|list)( \S+)?$/,
};

/** What is wrong with a line for a shell: an npm script or a file that is not there, or a program that no one has checked. */
function shellFaults(line: string): string[] {
  const [program = '', ...args] = line.replace(/\s+#.*$/, '').split(' ');
  if (program === 'npm') return npmFaults(args);
  if (program === 'node')
    return fs.existsSync(path.join(root, args[0] ?? '')) ? [] : [`there is no ${args[0]}`];
  const form = Object.hasOwn(PROGRAMS, program) ? PROGRAMS[program] : undefined;
  return form?.test(args.join(' ')) ? [] : [`no test checks the command “${line}”`];
}

function npmFaults([verb = '', ...rest]: readonly string[]): string[] {
  const script = verb === 'run' ? (rest[0] ?? '') : verb;
  if (script === 'ci')
    return rest.join(' ') === '--ignore-scripts' ? [] : ['npm ci needs --ignore-scripts here'];
  if (!Object.hasOwn(manifest.scripts, script)) return [`there is no npm script ${script}`];
  const flags = rest.slice(verb === 'run' ? 1 : 0);
  const file = manifest.scripts[script]?.replace(/^node /, '') ?? '';
  const source = flags.length > 0 ? read(file) : '';
  // A flag behind `--` is one that the script reads by its name.
  return flags
    .filter(flag => flag.startsWith('--') && flag !== '--')
    .filter(flag => !source.includes(/^--([\w-]+)/.exec(flag)?.[1] ?? flag))
    .map(flag => `${file} knows no ${flag}`);
}

/** Files of the example workspace, by workspace path. */
function exampleFiles(): Record<string, string> {
  const folder = 'examples/workspace';
  return Object.fromEntries(
    fs
      .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter(file => fs.statSync(path.join(root, folder, file)).isFile())
      .map(file => [file.split(path.sep).join('/'), read(path.join(folder, file))]),
  );
}

/** Slash commands, one a line. Those that edit files are run, on the example workspace. */
async function slashFaults({ code }: Block): Promise<string[]> {
  const faults: string[] = [];
  for (const line of code.trim().split('\n')) {
    const parsed = parseSlashCommand(line);
    if (!parsed || parsed.kind === 'malformed') faults.push(`“${line}” is not a slash command`);
    else if (parsed.kind === 'call' && /^(edit|write|delete|rename)_file$/.test(parsed.call.tool)) {
      const harness = new ToolHarness(exampleFiles());
      const { isError, content } = await harness.run(parsed.call.tool, parsed.call.arguments);
      if (isError || harness.staged.length !== 1) faults.push(`“${line}” stages nothing: ${content}`);
    }
  }
  return faults;
}

/** Names that drawings use for what is not ours. */
const FOREIGN_NAMES = ['Node', 'Code'];

/** A drawing: names of classes and files of logs in it must be in the source. */
function drawingFaults({ code }: Block): string[] {
  const source = fs
    .readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts'))
    .map(file => read(path.join('src', file)))
    .join('\n');
  const classes = [...code.matchAll(/\b[A-Z][a-z]+(?:[A-Z][a-z]+)*\b/g)]
    .map(([name]) => name)
    .filter(name => !FOREIGN_NAMES.includes(name))
    .filter(name => !new RegExp(`\\b(?:class|interface|type) ${name}\\b`).test(source));
  const files = [...code.matchAll(/\b\w+\.jsonl\b/g)]
    .map(([name]) => name)
    .filter(name => !source.includes(name));
  const folders = [...code.matchAll(/\bsrc\/[\w/]+/g)]
    .map(([name]) => name)
    .filter(name => !fs.existsSync(path.join(root, name)));
  return [...classes, ...files, ...folders].map(name => `the source has no ${name}`);
}
