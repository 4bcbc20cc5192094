// Records of 4 KiB, each with a commit sector: ten run DISK [careless], ten verify DISK MARKS. Compile: go build ten.go
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func run(drive *os.File, number int) {
	must(drive.WriteAt(bytes.Repeat([]byte{byte(number)}, 4096), int64(65536+number*4096)))
	if len(os.Args) == 3 { // not careless
		must(0, drive.Sync())
	}
	must(drive.WriteAt(bytes.Repeat([]byte{byte(number)}, 512), int64(number*512)))
	must(0, drive.Sync())
	fmt.Println(number)
}

func main() {
	drive := must(os.OpenFile(os.Args[2], os.O_RDWR, 0))
	start := make([]byte, 131072) // of the drive, which may be large
	must(drive.ReadAt(start, 0))
	for number := 1; number <= 8; number++ {
		if os.Args[1] == "run" {
			run(drive, number)
			continue
		}
		acked := slices.Contains(strings.Fields(string(must(os.ReadFile(os.Args[3])))), fmt.Sprint(number))
		committed, record := start[number*512] == byte(number), start[65536+number*4096:][:4096]
		if committed && bytes.Count(record, []byte{byte(number)}) < 4096 || acked && !committed {
			log.Fatalf("record %d is missing or not whole", number)
		}
	}
}
