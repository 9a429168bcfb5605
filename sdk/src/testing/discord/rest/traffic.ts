/** Counts what goes on, so that `settled()` knows when nothing does. */
export interface Traffic {
  begin(): void;
  end(): void;
  /** Something happened that is no request, such as a new connection. */
  touch(): void;
  /** Grows with everything that happens. */
  readonly activity: number;
  readonly underWay: number;
}

export function createTraffic(): Traffic {
  let activity = 0;
  let underWay = 0;
  return {
    begin: () => {
      activity += 1;
      underWay += 1;
    },
    end: () => {
      underWay -= 1;
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
  };
}
