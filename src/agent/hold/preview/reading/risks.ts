import { TimeSlice } from '../../../base/async.ts';
import { beginningOf } from '../../../base/cutText.ts';
import { hunksOfChange, isText, isWhole, textOf, type FileChange } from '../fileChange.ts';
import type { Hunk } from '../../text/hunks.ts';
import type { Preview } from '../preview.ts';
import { foldPath, isProtectedPath } from '../resolve/protectedPlaces.ts';
import { commandRisks, type CommandRisk } from './commandRisks.ts';
import { exportChange } from './exports.ts';
import { extensionOf } from './imports.ts';
import { stillImported, type FindLines, type StillImported } from './stillImported.ts';
import { fewerTests, isTestFile, type FewerTests } from './testFiles.ts';

/** From this many changed lines on, a preview is large. */
export const MANY_LINES = 200;
/** In characters; longer texts are not searched. */
const MAX_CHARS = 300_000;
/** The most files of a preview that are looked at. */
const MAX_FILES = 200;
/** In characters; longer lines are not searched for secrets. */
const MAX_LINE = 2_000;

/** A fact about a preview that a person should know before deciding, with the workspace path that it is about. Never a score. */
export type Risk =
  /** Risk of a preview that runs a command. */
  | { readonly kind: CommandRisk }
  | { readonly kind: 'secret'; readonly path: string; /** From 1. */ readonly line: number }
  /** A file `HEAD`: with it, git takes the folder for a repository, and runs the programs that its configuration names. */
  | { readonly kind: 'repository'; readonly path: string }
  | { readonly kind: 'deletes'; readonly path: string }
  | StillImported
  | ({ readonly kind: 'tests'; readonly path: string } & FewerTests)
  | {
      readonly kind: 'exports';
      readonly path: string;
      /** Names that other files can no longer import. */
      readonly gone: readonly string[];
      /** Names whose declaration changed. */
      readonly changed: readonly string[];
    }
  | { readonly kind: 'configuration'; readonly path: string }
  | { readonly kind: 'outsidePlan'; readonly path: string }
  | { readonly kind: 'large'; readonly lines: number };

/** All kinds, the most important first. */
const RANKED: Readonly<Record<Risk['kind'], true>> = {
  runsFromNetwork: true,
  deletesFiles: true,
  secret: true,
  repository: true,
  imported: true,
  deletes: true,
  tests: true,
  exports: true,
  configuration: true,
  outsidePlan: true,
  large: true,
};

/** The kinds, the most important first. */
export const riskKinds = Object.keys(RANKED) as readonly Risk['kind'][];

/**
 * Facts about a preview, in the order of {@link riskKinds}. They are read from names and lines, without running anything, and other
 * work runs in between.
 * @param plan the text of the plan that the user approved for its change set, if there is one
 * @param find finds the remaining imports of a file that is gone
 * @param command the command that it runs
 */
export async function risksOf(
  { changes }: Preview,
  plan: string | undefined,
  find?: FindLines,
  command = '',
): Promise<readonly Risk[]> {
  const found: Risk[] = find ? [...(await stillImported(changes ?? [], find))] : [];
  for (const kind of commandRisks(command)) found.push({ kind });
  let lines = 0;
  const slice = new TimeSlice();
  for (const change of (changes ?? []).slice(0, MAX_FILES)) {
    await slice.turn();
    const hunks = await hunksOfChange(change);
    for (const { before, after } of hunks) lines += before.length + after.length;
    found.push(...risksIn(change, hunks));
    if (plan !== undefined && isOutside(plan, change.path))
      found.push({ kind: 'outsidePlan', path: change.path });
  }
  if (lines > MANY_LINES) found.push({ kind: 'large', lines });
  const rank = (risk: Risk): number => riskKinds.indexOf(risk.kind);
  return found.sort((one, other) => rank(one) - rank(other));
}

function risksIn(change: FileChange, hunks: readonly Hunk[]): Risk[] {
  const { path, kind } = change;
  const found: Risk[] = [];
  if (kind === 'delete') found.push({ kind: 'deletes', path });
  else if (/(?:^|\/)head$/.test(foldPath(path))) found.push({ kind: 'repository', path });
  if (isConfiguration(path) || (kind === 'rename' && isConfiguration(change.from)))
    found.push({ kind: 'configuration', path });
  if (isWhole(change)) return found;
  const line = secretIn(hunks);
  if (line !== undefined) found.push({ kind: 'secret', path, line });
  const [before, after] = [textOf(change.before), textOf(change.after)];
  if (!change.before || Math.max(before.length, after.length) > MAX_CHARS) return found;
  if (isTestFile(kind === 'rename' ? change.from : path)) {
    const fewer = fewerTests(before, after);
    if (fewer) found.push({ kind: 'tests', path, ...fewer });
  } else if (kind !== 'delete' && isText(change.before)) {
    const exported = exportChange(path, before, after);
    if (exported) found.push({ kind: 'exports', path, ...exported });
  }
  return found;
}

const CONFIGURATION = new RegExp(
  [
    // Continuous integration.
    String.raw`(?:^|/)(?:\.github|\.gitlab|\.circleci|\.buildkite|\.azure-pipelines|\.ci)/`,
    String.raw`(?:^|/)(?:\.gitlab-ci|\.travis|azure-pipelines|appveyor|bitbucket-pipelines|cloudbuild)\.ya?ml$`,
    String.raw`(?:^|/)Jenkinsfile$`,
    // Packages and their lock files.
    String.raw`(?:^|/)(?:package|package-lock|composer|deno|bun)\.(?:json|jsonc|lock|lockb)$`,
    String.raw`(?:^|/)(?:yarn|pnpm-lock|Cargo|poetry|uv|Gemfile|flake)\.(?:lock|ya?ml|toml)$`,
    String.raw`(?:^|/)(?:pyproject\.toml|setup\.(?:py|cfg)|requirements[^/]*\.txt|go\.(?:mod|sum|work)|Gemfile|pom\.xml|[^/]+\.(?:gradle|gradle\.kts|csproj|sln)|\.npmrc|\.yarnrc[^/]*|\.nvmrc)$`,
    // How it is built, checked and started.
    String.raw`(?:^|/)(?:tsconfig[^/]*\.json|[^/]+\.config\.[cm]?[jt]s|\.(?:eslint|prettier|babel|mocha|stylelint)rc[^/]*|Makefile|CMakeLists\.txt|Dockerfile[^/]*|(?:docker-)?compose[^/]*\.ya?ml|\.env[^/]*|\.dockerignore|\.editorconfig|tox\.ini|pytest\.ini|Vagrantfile|Procfile)$`,
  ].join('|'),
);

/** Whether a file decides how the project is built, checked, run or worked on. */
export function isConfiguration(path: string): boolean {
  return CONFIGURATION.test(path) || isProtectedPath(path);
}

const SECRETS = [
  /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/,
  /\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{30,}|glpat-[\w-]{20,}|npm_[A-Za-z0-9]{30,})/,
  /\b(?:sk|pk|rk)[-_](?:live|test|proj|ant)[-_][\w-]{16,}/,
  /\bxox[abeprs]-[\w-]{10,}/,
  /\bAIza[\w-]{35}\b/,
  /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/,
  /\b[a-z][a-z+]{1,20}:\/\/[^\s:/@'"]{1,100}:[^\s/@'"${}<>]{3,100}@/i,
] as const;
const NAMED_SECRET =
  /(?:password|passwd|secret|token|api_?key|access_?key|private_?key|credentials?)["']?\s{0,5}(?::\s{0,5}\w{0,20}\s{0,5}=|[:=])\s{0,5}["'`]([^"'`\s]{8,200})["'`]/i;

/** Number, from 1, of the first added line that looks as if it held a secret. A secret that was there before does not count. */
function secretIn(hunks: readonly Hunk[]): number | undefined {
  for (const { before, after, afterStart } of hunks) {
    const old = before.join('');
    const index = after.findIndex(line => {
      const secret = line.length > MAX_LINE ? undefined : secretOf(line);
      return secret !== undefined && !old.includes(secret);
    });
    if (index >= 0) return afterStart + index + 1;
  }
  return undefined;
}

function secretOf(line: string): string | undefined {
  for (const pattern of SECRETS) {
    const known = pattern.exec(line)?.[0];
    if (known !== undefined) return known;
  }
  const named = NAMED_SECRET.exec(line)?.[1];
  // The name of a variable, a sentence or an example is not a secret: secrets mix letters and digits.
  if (named === undefined || !/\d/.test(named) || !/[a-z]/i.test(named)) return undefined;
  return /\$\{|\{\{|<|example|process\.env|placeholder/i.test(named) ? undefined : named;
}

/** Endings of the names of files of usual kinds. */
const EXTENSIONS = new Set(
  (
    'ts tsx mts cts js jsx mjs cjs py go rs java kt rb php c h cc cpp hpp cs swift css scss sass less html htm vue svelte json ' +
    'jsonc yaml yml toml md sh sql xml txt proto'
  ).split(' '),
);
const NAMED = /[\w@.-]+(?:\/[\w@.-]+)*/g;

/** Whether a plan names files, but neither this one nor a folder above it. */
function isOutside(plan: string, path: string): boolean {
  const names = (beginningOf(plan, MAX_CHARS).match(NAMED) ?? []).map(plainName);
  // Names such as Node.js do not mean a file.
  const files = names.filter(name => EXTENSIONS.has(extensionOf(name)) && !/^[A-Z]\w*\.js$/.test(name));
  if (files.length === 0) return false;
  const folders = new Set(names.filter(name => name.includes('/')));
  const isNamed = (name: string): boolean =>
    `/${path}`.endsWith(`/${name}`) || (folders.has(name) && `/${path}`.includes(`/${name}/`));
  return ![...files, ...folders].some(isNamed);
}

/** A name without the full stop of its sentence, and without `./` before it. */
function plainName(name: string): string {
  let end = name.length;
  while (name[end - 1] === '.') end--;
  return name.slice(0, end).replace(/^\.\//, '');
}
