import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t } from './texts';

export interface Suggestion {
  /** The id of the list, different for each field. */
  label: string;
  hint: string;
  choose(): void;
}

/**
 * Suggestions for a field that keeps the focus: arrow keys move, Enter and Tab choose, Escape hides them until more is typed.
 * @param all `undefined` until they are loaded: Enter chooses then
 * @param first the one that is selected initially; -1 for none
 */
export function useSuggestions(all: readonly Suggestion[] | undefined, first: 0 | -1) {
  const id = useId();
  const [moved, move] = useState<number>(first);
  const [isDismissed, dismiss] = useState(false);
  const [isWaiting, wait] = useState(false);
  const isLoaded = all !== undefined;
  const shown = isDismissed || !isLoaded ? [] : all;
  const at = Math.min(moved, shown.length - 1);
  useLayoutEffect(() => {
    if (!isWaiting || !isLoaded) return;
    wait(false);
    shown[at]?.choose();
  }, [isWaiting, isLoaded]);
  const start = () => {
    move(first);
    dismiss(false);
    wait(false);
  };
  /** Whether the key was handled by the suggestions. */
  const take = ({ key, shiftKey }: KeyboardEvent): boolean => {
    const chosen = shown[at];
    if (!isLoaded && key === 'Enter' && !shiftKey) {
      wait(true);
      return true;
    }
    if (shown.length === 0) return false;
    if (key === 'ArrowDown') move((at + 1) % shown.length);
    else if (key === 'ArrowUp') move(at <= 0 ? shown.length - 1 : at - 1);
    else if (chosen !== undefined && (key === 'Tab' || key === 'Enter') && !shiftKey) chosen.choose();
    else if (key === 'Escape') dismiss(true);
    else return false;
    return true;
  };
  const isShown = shown.length > 0;
  return {
    isShown,
    start,
    end: () => dismiss(true),
    onKey: (event: KeyboardEvent): boolean => {
      const isTaken = take(event);
      if (isTaken) {
        event.preventDefault();
        // Escape only closes the suggestions.
        event.stopPropagation();
      }
      return isTaken;
    },
    /** Attributes of the field. */
    field: {
      'aria-autocomplete': 'list',
      'aria-controls': isShown ? id : undefined,
      'aria-activedescendant': isShown && at >= 0 ? `${id}-${at}` : undefined,
    } as const,
    list: isShown && <List id={id} shown={shown} at={at} />,
  };
}

function List({ id, shown, at }: { id: string; shown: readonly Suggestion[]; at: number }) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  return (
    <div ref={list} id={id} class="suggestions" role="listbox" aria-label={t('Suggestions')}>
      {shown.map(({ label, hint, choose }, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and its keys
        <div
          key={label}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === at}
          onMouseDown={(event) => event.preventDefault()}
          onClick={choose}
        >
          <strong>{label}</strong> <span class="quiet">{hint}</span>
        </div>
      ))}
    </div>
  );
}
