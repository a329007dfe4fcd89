/** What the tool `git` needs. */
export interface GitPorts {
  /** Whether a folder is open and trusted: a repository brings settings of its own. */
  readonly isAvailable: () => boolean;
  /** The program, by its path or its name. */
  readonly program: () => string;
  /**
   * The folder that a path is in, which need not exist, and the path below it, `.` for the folder itself. Without a path, the
   * first folder.
   * @throws PathError for a path outside.
   */
  readonly locate: (path?: string) => Promise<GitPlace>;
}

/** A place in a workspace folder. */
export interface GitPlace {
  /** The absolute path of the folder. */
  readonly folder: string;
  readonly name: string;
  readonly relative: string;
}
