import { defineToken } from '@cinnabar/sdk';

/** The service that `points` provides and other plugins inject. */
export interface Points {
  of(member: Member): Promise<number>;
  give(member: Member, count: number): Promise<number>;
  /** @throws UserError when the member has fewer points */
  take(member: Member, count: number): Promise<number>;
}

export interface Member {
  readonly guildId: string;
  readonly userId: string;
}

export const Points = defineToken<Points>('example.points');
