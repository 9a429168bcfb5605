/** Tool calls of the runs that are under way, for their receipts. */
export interface CallLog {
  note(sessionId: string, name: string, outcome: string): void;
  /** All of one run; they are forgotten with that. */
  take(sessionId: string): readonly { readonly name: string; readonly outcome: string }[];
}

export function createCallLog(): CallLog {
  const bySession = new Map<string, { name: string; outcome: string }[]>();
  return {
    note(sessionId, name, outcome) {
      bySession.set(sessionId, [...(bySession.get(sessionId) ?? []), { name, outcome }]);
    },
    take(sessionId) {
      const calls = bySession.get(sessionId) ?? [];
      bySession.delete(sessionId);
      return calls;
    },
  };
}
