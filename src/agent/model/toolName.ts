/** The name of a tool as a model means it. Some servers leave control tokens in it, such as `read_file<|channel|>commentary`. */
export function toolNameOf(written: string): string {
  return written.replace(/<\|.*$/s, '').trim();
}
