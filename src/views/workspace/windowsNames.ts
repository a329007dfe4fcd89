/** Names that mean a device, whatever follows a dot. */
const DEVICE = /^(?:con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³]|conin\$|conout\$) *(?:\.|$)/i;

/**
 * Whether Windows can hold a file or folder of this name. Some names mean a device, a colon begins the name of a stream of
 * another file, and a dot or a space at the end is dropped, so that the name means another file.
 */
export function isNameOnWindows(name: string): boolean {
  return !/[<>:"|?*\\]|[. ]$/.test(name) && !DEVICE.test(name);
}
