import { t } from './texts';

/** Discord's limit for people without Nitro. */
const MAX_MIB = 10;
/** The server's limit for one message. */
const MAX_MIB_TOGETHER = 16;
const MAX_FILES = 10;
const MIB = 1024 * 1024;

/** Why files cannot be sent in one message; `undefined` when they can. */
export function refusalOf(files: readonly File[]): string | undefined {
  const large = files.find(({ size }) => size > MAX_MIB * MIB);
  if (large !== undefined)
    return t('{name} is larger than {size} MiB, and cannot be sent.', { name: large.name, size: MAX_MIB });
  if (files.length > MAX_FILES) return t('A message takes {count} files at most.', { count: MAX_FILES });
  const size = files.reduce((sum, file) => sum + file.size, 0);
  return size > MAX_MIB_TOGETHER * MIB
    ? t('Together the files are larger than {size} MiB.', { size: MAX_MIB_TOGETHER })
    : undefined;
}

/** A file as it is sent to the server. */
export async function readFile(file: File): Promise<{ name: string; data: string; type?: string }> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(String(reader.result)));
    reader.addEventListener('error', () => reject(new Error(t('{name} cannot be read.', { name: file.name }))));
    reader.readAsDataURL(file);
  });
  return { name: file.name, data: url.slice(url.indexOf(',') + 1), ...(file.type && { type: file.type }) };
}
