import { existsSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { isRecord, parsedJson } from '../../base/json.ts';
import { isInside } from '../../base/system/realPath.ts';

/** The settings of agents in the home folder that name programs: hooks that guard, the status line, MCP servers. */
const SETTINGS: Readonly<Record<string, readonly string[]>> = {
  claude: ['.claude/settings.json', '.claude.json'],
};
/** The keys below which programs are named. */
const NAMING = ['hooks', 'statusLine', 'mcpServers', 'apiKeyHelper'];

/**
 * Files of the home folder that the agent's own settings name and that are not in its view: a guard that is configured but does not
 * run is worse than none.
 * @param shown absolute paths that are in the view
 * @param cwd the folder in it where the agent is started
 */
export function hiddenPrograms(
  program: string,
  home: string,
  shown: readonly string[],
  cwd: string,
): readonly string[] {
  const isShown = (at: string): boolean => shown.some(outer => isInside(at, outer));
  const named = (SETTINGS[program] ?? []).flatMap(each => {
    const settings = parsedJson(textOfFile(path.join(home, each)));
    if (!isRecord(settings)) return [];
    // MCP servers for one folder alone, which is where Claude Code adds them unless it is told otherwise.
    const { projects } = settings;
    const own = Object.entries(isRecord(projects) ? projects : {})
      .filter(([folder]) => isShown(folder) && isInside(cwd, folder))
      .map(([, project]) => project);
    const values = [settings, ...own].filter(isRecord).flatMap(part => NAMING.map(key => part[key]));
    return values.flatMap(textsIn).flatMap(text => pathsIn(text, home));
  });
  return [...new Set(named)].filter(each => existsSync(each) && !isShown(each));
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** The absolute paths below the home folder in a command. */
function pathsIn(command: string, home: string): readonly string[] {
  return command
    .split(/[\s"'`=;|&()<>]+/)
    .map(word => word.replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/)/, home))
    .filter(word => word.startsWith(`${home}/`))
    .map(word => path.normalize(word));
}

/** The content of a file; empty if it cannot be read. */
export function textOfFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
