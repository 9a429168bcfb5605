import { CinnabarError } from '@cinnabar/sdk';

/** https://discord.com/developers/docs/interactions/application-commands#application-command-object-application-command-naming */
const NAME = /^[-_\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$/u;
const MAX_DESCRIPTION = 100;

/** @throws CINNABAR_NAME_INVALID always, with what is wrong */
export function refuse(kind: string, name: string, detail: string): never {
  throw new CinnabarError('CINNABAR_NAME_INVALID', { kind, name, detail });
}

/** @throws CINNABAR_NAME_INVALID unless Discord would take it as the name of a command or option */
export function checkName(kind: string, name: string, shown = name): void {
  if (!NAME.test(name)) refuse(kind, shown, 'use 1 to 32 letters, digits, `-` and `_`');
  if (name !== name.toLowerCase()) refuse(kind, shown, `use lower case: \`${name.toLowerCase()}\``);
}

/** @throws CINNABAR_NAME_INVALID unless the description has 1 to 100 characters */
export function checkDescription(kind: string, name: string, description: string): void {
  const { length } = description;
  if (length === 0) refuse(kind, name, 'its description is empty');
  if (length > MAX_DESCRIPTION) {
    refuse(kind, name, `its description has ${length} characters, and Discord allows ${MAX_DESCRIPTION}`);
  }
}
