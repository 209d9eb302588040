export function contextViews() { return []; }
