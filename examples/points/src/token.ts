import { defineToken } from '@cinnabar/sdk';

/** What `points` provides and other plugins inject. */
export interface Points {
  of(member: Member): Promise<number>;
  give(member: Member, count: number): Promise<number>;
  /** @throws UserError when the member has fewer */
  take(member: Member, count: number): Promise<number>;
}

export interface Member {
  readonly guildId: string;
  readonly userId: string;
}

export const Points = defineToken<Points>('example.points');
