import { isRecord, parsedJson } from '../../base/json.ts';

/** A check that a project seems to have. */
export interface SuggestedCheck {
  readonly name: string;
  readonly command: string;
  /** Command that exits with 0 if the program that the check needs is there and works. */
  readonly probe: string;
}

/** Scripts that check something, in the order in which they are suggested. */
const SCRIPTS = /^(?:test|tests|unit|check|typecheck|type-check|types|tsc|lint|eslint|build)(?:[:-].*)?$/;
/** Scripts that do not end by themselves, and the placeholder that `npm init` writes. */
const NONE = /watch|--inspect|dev\b|serve|no test specified/;
const TARGETS = /^(test|check|lint|typecheck|build)\s*:/gm;

/**
 * Suggests checks by the files of a project; of several with one name, the preferred comes first. Not all can run: see `runnable`.
 * @param read the text of a file at the root; `undefined` if there is none
 */
export async function suggestChecks(
  read: (name: string) => Promise<string | undefined>,
): Promise<readonly SuggestedCheck[]> {
  const found: SuggestedCheck[] = [];
  const add = (name: string, command: string, probe: string): void =>
    void found.push({ name, command, probe });
  const scripts = scriptsIn(await read('package.json'));
  if (scripts.length > 0) {
    const runner = await packageManager(read);
    for (const [name, script] of scripts)
      if (SCRIPTS.test(name) && !NONE.test(`${name} ${script}`))
        add(name, name === 'test' ? `${runner} test` : `${runner} run ${name}`, `${runner} --version`);
  }
  const makefile = (await read('Makefile')) ?? (await read('makefile'));
  for (const [, target] of makefile?.matchAll(TARGETS) ?? [])
    if (target !== undefined) add(`make ${target}`, `make ${target}`, 'make --version');
  if ((await read('Cargo.toml')) !== undefined)
    for (const each of ['test', 'check']) add(`cargo ${each}`, `cargo ${each} --offline`, 'cargo --version');
  if ((await read('go.mod')) !== undefined)
    for (const each of ['test', 'vet']) add(`go ${each}`, `go ${each} ./...`, 'go version');
  const python = `${(await read('pyproject.toml')) ?? ''}${(await read('setup.cfg')) ?? ''}`;
  if ((await read('pytest.ini')) !== undefined || /\bpytest\b/.test(python))
    for (const each of ['python', 'python3'])
      add('pytest', `${each} -m pytest -q`, `${each} -m pytest --version`);
  return found;
}

function scriptsIn(text: string | undefined): readonly (readonly [string, string])[] {
  if (text === undefined) return [];
  const parsed = parsedJson(text);
  const scripts = isRecord(parsed) ? parsed['scripts'] : undefined;
  if (!isRecord(scripts)) return [];
  return Object.entries(scripts).flatMap(([name, script]) =>
    typeof script === 'string' ? [[name, script] as const] : [],
  );
}

async function packageManager(read: (name: string) => Promise<string | undefined>): Promise<string> {
  for (const [lock, name] of [
    ['pnpm-lock.yaml', 'pnpm'],
    ['yarn.lock', 'yarn'],
    ['bun.lock', 'bun'],
  ] as const)
    if ((await read(lock)) !== undefined) return name;
  return 'npm';
}
