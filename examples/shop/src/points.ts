import { defineToken } from '@cinnabar/sdk';

/** What this plugin needs of `points`. Tokens with the same id are the same, so that neither package has to import the other. */
export interface Points {
  take(member: { readonly guildId: string; readonly userId: string }, count: number): Promise<number>;
}
export const Points = defineToken<Points>('example.points');
