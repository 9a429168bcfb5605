import { UserError } from '@cinnabar/sdk';
import { type Character, findCharacter } from '../roster/characters.js';

export interface Candidates {
  readonly characters: readonly Character[];
  /** Names as they are in the party. */
  readonly excluded: readonly string[];
  /** Names that were to be excluded and that nobody has. */
  readonly unknown: readonly string[];
}

/** @throws UserError when nobody is left to receive anything */
export function candidatesOf(members: readonly Character[], exclude: readonly string[]): Candidates {
  if (members.length === 0) throw new UserError('There is nobody in the party yet, so nobody can get anything.');
  const found = exclude.map((name) => findCharacter(members, name));
  const characters = members.filter((member) => !found.includes(member));
  if (characters.length === 0) throw new UserError('Everyone in the party is excluded, so nobody can get anything.');
  return {
    characters,
    excluded: members.filter((member) => found.includes(member)).map(({ name }) => name),
    unknown: exclude.filter((_, index) => found[index] === undefined),
  };
}
