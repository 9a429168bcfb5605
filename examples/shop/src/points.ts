import { defineToken } from '@cinnabar/sdk';

/** The part of `points` that this plugin uses. Tokens with the same id are equal, so that neither package has to import the other. */
export interface Points {
  take(member: { readonly guildId: string; readonly userId: string }, count: number): Promise<number>;
}
export const Points = defineToken<Points>('example.points');
