import { quoted } from '../base/safeName.ts';

/** The agent's surroundings, as the window knows them. */
export interface Surroundings {
  /** The operating system, such as `Linux`. */
  readonly system: string;
  /** The shell that runs commands; absent if it is not known. */
  readonly shell?: string;
  /** The workspace folders, by the names that workspace paths begin with where there are several. */
  readonly folders: readonly { readonly name: string; readonly branch?: string }[];
}

/** Reads {@link Surroundings}. Does not reject. */
export type ReadSurroundings = () => Promise<Surroundings>;

/** The most characters of one name. */
const MAX_NAME = 100;
/** The most folders that are named. */
const MAX_FOLDERS = 10;

/** The line of the system prompt. It changes only when its content does, for the sake of the server's prompt cache. */
export function surroundingsText({ system, shell, folders }: Surroundings): string {
  const named = folders
    .slice(0, MAX_FOLDERS)
    .map(
      ({ name, branch }) =>
        `${quoted(name, MAX_NAME)}${branch === undefined ? '' : ` (branch ${quoted(branch, MAX_NAME)})`}`,
    );
  const more = folders.length > MAX_FOLDERS ? ` and ${folders.length - MAX_FOLDERS} more` : '';
  const where = named.length > 0 ? `${named.join(', ')}${more}` : 'none is open';
  const commands = shell === undefined ? '' : ` Commands run in ${quoted(shell, MAX_NAME)}.`;
  return `Operating system: ${system}.${commands} Workspace folders: ${where}.`;
}
