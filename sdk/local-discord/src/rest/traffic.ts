/** Counts what goes on, so that `settled()` knows when nothing does. */
export interface Traffic {
  begin(): void;
  end(): void;
  /** A request is answered nothing for now (a fault), and later goes on. */
  hold(): void;
  release(): void;
  /** Something happened that is no request, such as a new connection. */
  touch(): void;
  /** Grows with everything that happens. */
  readonly activity: number;
  /** Without those that are held. */
  readonly underWay: number;
  readonly held: number;
}

export function createTraffic(): Traffic {
  let activity = 0;
  let underWay = 0;
  let held = 0;
  return {
    begin: () => {
      activity += 1;
      underWay += 1;
    },
    end: () => {
      underWay -= 1;
    },
    hold: () => {
      underWay -= 1;
      held += 1;
    },
    release: () => {
      activity += 1;
      underWay += 1;
      held -= 1;
    },
    touch: () => {
      activity += 1;
    },
    get activity() {
      return activity;
    },
    get underWay() {
      return underWay;
    },
    get held() {
      return held;
    },
  };
}
