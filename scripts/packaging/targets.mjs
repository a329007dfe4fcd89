/** The platforms that packages are made for, and the native files that each contains. */
import * as fs from 'node:fs';

/**
 * By the name that VS Code gives the platform: the suffix of the engine's npm package, and the folder of compiled grammars
 * in the packages of the languages. Without a folder there is only the engine with the languages that are built into it:
 * the packages of the languages have no grammar for musl or for Windows on ARM.
 * @type {Readonly<Record<string, { engine: string, grammars?: string }>>}
 */
export const TARGETS = {
  'linux-x64': { engine: 'linux-x64-gnu', grammars: 'prebuild-Linux-X64' },
  'linux-arm64': { engine: 'linux-arm64-gnu', grammars: 'prebuild-Linux-ARM64' },
  'alpine-x64': { engine: 'linux-x64-musl' },
  'alpine-arm64': { engine: 'linux-arm64-musl' },
  'darwin-x64': { engine: 'darwin-x64', grammars: 'prebuild-macOS-X64' },
  'darwin-arm64': { engine: 'darwin-arm64', grammars: 'prebuild-macOS-ARM64' },
  'win32-x64': { engine: 'win32-x64-msvc', grammars: 'prebuild-Windows-X64' },
  'win32-arm64': { engine: 'win32-arm64-msvc' },
};

/** The package for all platforms. VS Code installs it where there is none for the platform. */
export const UNIVERSAL = 'universal';

/**
 * The target of this machine. It need not be one of {@link TARGETS}.
 */
export function ownTarget() {
  const { platform, arch } = process;
  return `${platform === 'linux' && isAlpine() ? 'alpine' : platform}-${arch}`;
}

/** As `machine.ts` of the extension decides it. */
function isAlpine() {
  return fs.existsSync('/etc/os-release') && /^ID=alpine$/m.test(fs.readFileSync('/etc/os-release', 'utf8'));
}

/**
 * The targets that `--target=…` among the arguments asks for.
 * @param {readonly string[]} args
 * @returns {string[] | undefined} `undefined` when nothing is asked for
 * @throws {Error} that lists the targets, when there is no such one
 */
export function askedTargets(args) {
  const asked = args.findLast(arg => arg.startsWith('--target='))?.slice('--target='.length);
  if (asked === undefined) return undefined;
  const all = [...Object.keys(TARGETS), UNIVERSAL];
  if (asked === 'all') return all;
  const names = asked.split(',');
  const unknown = names.find(name => !all.includes(name));
  if (unknown !== undefined)
    throw new Error(`There is no target "${unknown}". The targets are ${all.join(', ')} and all.`);
  return names;
}

/** The platforms whose native files a target's package contains: none for a machine that no engine is made for. */
export function platformsOf(target) {
  return Object.keys(TARGETS).filter(platform => target === UNIVERSAL || platform === target);
}

/** The npm package of a platform's engine. */
export const enginePackage = platform => `@ast-grep/napi-${TARGETS[platform].engine}`;

/**
 * The native files of a target's package, before they are compressed.
 * @param {string} target one of {@link TARGETS} or {@link UNIVERSAL}
 * @param {(platform: string) => readonly string[]} languages that have a compiled grammar for the platform
 * @returns {{ package: string, file: string, to: string }[]} the npm package, the file in it, and the path in dist/native;
 *   `*.node` is the one file with that ending
 */
export function nativeFiles(target, languages) {
  return platformsOf(target).flatMap(platform => {
    const { grammars } = TARGETS[platform];
    return [
      { package: enginePackage(platform), file: '*.node', to: `${platform}/engine.node` },
      ...languages(platform).map(language => ({
        package: `@ast-grep/lang-${language}`,
        file: `prebuilds/${grammars}/parser.so`,
        to: `${platform}/grammar-${language}.node`,
      })),
    ];
  });
}
