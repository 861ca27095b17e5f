/* A map from handles to small numbers: open addressing with linear probing, grown at half load. */
#ifndef RECORDER_MAP_H
#define RECORDER_MAP_H

#include <stdint.h>
#include <stdlib.h>

struct map {
    uint64_t *keys;
    /* 0: free. */
    uint32_t *values;
    size_t mask, count;
};

static inline size_t map_hash(uint64_t key)
{
    return (size_t)((key * 0x9e3779b97f4a7c15u) >> 20);
}

/* Where the key is or would be. */
static inline size_t map_place(const struct map *map, uint64_t key)
{
    size_t place = map_hash(key) & map->mask;
    while (map->values[place] != 0 && map->keys[place] != key)
        place = (place + 1) & map->mask;
    return place;
}

/* The value of a key; 0 for none. */
static inline uint32_t map_get(const struct map *map, uint64_t key)
{
    return map->values ? map->values[map_place(map, key)] : 0;
}

/* Sets the value, not 0, of a key. */
static inline void map_set(struct map *map, uint64_t key, uint32_t value)
{
    if (!map->values || 2 * map->count > map->mask) {
        size_t size = map->values ? 2 * (map->mask + 1) : 64;
        struct map larger = {calloc(size, sizeof *larger.keys), calloc(size, sizeof *larger.values),
                             size - 1, map->count};
        if (!larger.keys || !larger.values)
            abort();
        for (size_t place = 0; map->values && place <= map->mask; place++)
            if (map->values[place] != 0) {
                size_t to = map_place(&larger, map->keys[place]);
                larger.keys[to] = map->keys[place];
                larger.values[to] = map->values[place];
            }
        free(map->keys);
        free(map->values);
        *map = larger;
    }
    size_t place = map_place(map, key);
    map->count += map->values[place] == 0;
    map->keys[place] = key;
    map->values[place] = value;
}

static inline void map_remove(struct map *map, uint64_t key)
{
    if (map_get(map, key) == 0)
        return;
    size_t hole = map_place(map, key);
    map->values[hole] = 0;
    map->count--;
    /* Those that were pushed on by the removed one move up. */
    for (size_t place = (hole + 1) & map->mask; map->values[place] != 0;
         place = (place + 1) & map->mask) {
        uint32_t value = map->values[place];
        map->values[place] = 0;
        size_t to = map_place(map, map->keys[place]);
        map->keys[to] = map->keys[place];
        map->values[to] = value;
    }
}

#endif
