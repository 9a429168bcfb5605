import { once } from 'node:events';
import type { ReadStream } from 'node:tty';

/** Whether somebody sits at the terminal who could look at a page. */
export function hasBrowser(
  input: Pick<ReadStream, 'isTTY'>,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return input.isTTY === true && !isTrue(env.CI);
}

const isTrue = (value: string | undefined): boolean => value !== undefined && !/^(?:|0|false)$/i.test(value);

/**
 * Opens an address in the default browser of the machine. Resolves when the program that opens it has ended, which can be as late as the browser's end.
 * @throws Error with what is in the way
 */
export async function openPage(address: string): Promise<void> {
  const { default: open } = await import('open');
  const opener = await open(address);
  const code: unknown = opener.exitCode ?? (await once(opener, 'exit'))[0];
  if (code !== 0) throw new Error(`the program for that ended with ${String(code)}`);
}
