/** What a channel grants or denies to one role or member, over what their roles say. */
export interface Overwrite {
  readonly id: string;
  readonly kind: 'role' | 'member';
  allow: bigint;
  deny: bigint;
}
