import { useLayoutEffect, useState } from 'preact/hooks';

/**
 * The selected entry of a combobox: arrow keys move the selection, and Enter chooses the entry, which may still have to be loaded.
 * @param isComplete whether the entries are those of the present search
 * @see https://www.w3.org/WAI/ARIA/apg/patterns/combobox/
 */
export function useSelection<T>(entries: readonly T[], isComplete: boolean, choose: (entry: T) => void) {
  const [at, select] = useState(0);
  const [isWaiting, setWaiting] = useState(false);
  useLayoutEffect(() => {
    if (!isWaiting || !isComplete) return;
    setWaiting(false);
    const entry = entries[at];
    if (entry !== undefined) choose(entry);
  }, [isWaiting, isComplete]);
  return {
    /** The index of the selected entry. */
    at,
    select,
    /** Chooses the selected entry as soon as the entries are complete. */
    enter: () => setWaiting(true),
    /** Withdraws an Enter that waits. */
    cancel: () => setWaiting(false),
    /** Moves the selection for arrow keys. @returns whether it was one */
    onArrow(event: KeyboardEvent): boolean {
      if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return false;
      event.preventDefault();
      select((at + (event.key === 'ArrowDown' ? 1 : -1) + entries.length) % Math.max(1, entries.length));
      return true;
    },
  };
}
