/** Stage "check": compilers and linters. Each counts as one check. */
import { ESLint } from 'eslint';
import * as os from 'node:os';
import ts from 'typescript';
import { runNode } from '../lib/command.mjs';
import { inRepo, repoRoot } from '../lib/paths.mjs';

const PROJECTS = { tsc: 'tsconfig.json', 'tsc of the chat webview': 'src/views/chat/webview/tsconfig.json' };
const tool = (...parts) => inRepo('node_modules', ...parts);
const TOOLS = {
  prettier: [
    tool('prettier', 'bin', 'prettier.cjs'),
    ...['--check', '--log-level=warn', '--cache', '--cache-location=out/prettier-cache', '.'],
  ],
  knip: [tool('knip', 'bin', 'knip.js')],
};

export async function check() {
  // It runs beside tests, whose windows are not to wait for it. The tools inherit it.
  os.setPriority(os.constants.priority.PRIORITY_LOW);
  const counts = { passed: 0, failed: 0, skipped: 0, failures: [] };
  const tell = (name, isGood) => {
    counts[isGood ? 'passed' : 'failed']++;
    if (!isGood) counts.failures.push(name);
    console.log(`${isGood ? '✔' : '✖'} ${name}`);
  };
  const programs = [];
  for (const [name, project] of Object.entries(PROJECTS)) {
    const { program, isGood } = compile(project);
    programs.push(program);
    tell(name, isGood);
  }
  tell('eslint', await lint(programs));
  for (const [name, args] of Object.entries(TOOLS)) tell(name, (await runNode(args)) === 0);
  return counts;
}

/** Checks types as `tsc -p` does. Returns the program, too. */
function compile(project) {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: report };
  const config = ts.getParsedCommandLineOfConfigFile(inRepo(project), {}, host);
  const program = ts.createProgram({
    rootNames: config.fileNames,
    options: config.options,
    configFileParsingDiagnostics: config.errors,
  });
  const problems = ts.sortAndDeduplicateDiagnostics([
    ...program.getConfigFileParsingDiagnostics(),
    ...ts.getPreEmitDiagnostics(program),
  ]);
  problems.forEach(report);
  return { program, isGood: problems.length === 0 };
}

function report(problem) {
  const host = {
    getCurrentDirectory: () => repoRoot,
    getCanonicalFileName: name => name,
    getNewLine: () => '\n',
  };
  console.error(ts.formatDiagnostic(problem, host).trimEnd());
}

/** Lints as `eslint .` does, with the types of programs that have been checked: to find them again would take as long once more. */
async function lint(programs) {
  const parserOptions = { projectService: false, programs };
  const eslint = new ESLint({
    cwd: repoRoot,
    overrideConfig: { files: ['**/*.ts'], languageOptions: { parserOptions } },
  });
  const results = await eslint.lintFiles(['.']);
  const formatter = await eslint.loadFormatter('stylish');
  const text = await formatter.format(results);
  if (text) console.error(text);
  return results.every(({ errorCount }) => errorCount === 0);
}
