export function ingestViews() { return []; }
