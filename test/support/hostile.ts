import * as fs from 'node:fs';
import * as path from 'node:path';

/** The program that does not want to end; see there. It needs Perl, which every Debian has, and no compiler. */
export const HOSTILE = path.join(import.meta.dirname, 'hostile.pl');

/** Its ways to outlive the command. */
export const WAYS = ['background', 'pipes', 'ptrace', 'exit', 'starve'] as const;

/** The arguments of what bubblewrap runs, and of itself. @param root is in the arguments of all that was started */
export function livingIn(root: string): readonly string[] {
  return fs.readdirSync('/proc').flatMap(pid => {
    try {
      const args = /^\d+$/.test(pid) ? fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1') : '';
      const isInside = /^(perl\0hostile\.pl|[^\0]*bwrap\0)/.test(args);
      return isInside && args.includes(root) ? [args.replaceAll('\0', ' ').slice(-100)] : [];
    } catch {
      return [];
    }
  });
}
