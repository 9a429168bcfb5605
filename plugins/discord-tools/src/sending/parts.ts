import { splitMessage, UserError } from '@cinnabar/sdk';

const MESSAGE_LIMIT = 2000;

/** The text as messages that Discord takes, fences unbroken. @throws UserError when there is nothing to say */
export function messageParts(text: string): readonly string[] {
  const parts = splitMessage(text, MESSAGE_LIMIT);
  if (parts.length === 0) throw new UserError('There is nothing to send: the text is empty.');
  return parts;
}
