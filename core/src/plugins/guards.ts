/** What must survive a restart of a plugin that guards tools, so that a broken one still fails closed. */
export interface KnownGuard {
  readonly id: string;
  readonly enabledByDefault: boolean;
}

export interface GuardStore {
  read(): Promise<readonly KnownGuard[]>;
  write(guards: readonly KnownGuard[]): Promise<void>;
}
